/** JSON as it is written: every token keeps its text, so that no number is ever rounded. */
export type JsonNode =
  | { kind: "atom"; text: string; of: "string" | "number" | "word" }
  | { kind: "array"; items: JsonNode[] }
  | { kind: "object"; entries: [string, JsonNode][] };

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:])/y;
/** Deeper than this nobody reads. */
const DEEPEST = 100;

/** Reads a text; nothing if it is no JSON, or too deep to show. */
export function parseJson(text: string): JsonNode | undefined {
  let at = 0;
  const peek = (): string | undefined => {
    TOKEN.lastIndex = at;
    return TOKEN.exec(text)?.[1];
  };
  const take = (): string => {
    const token = peek();
    if (token === undefined) throw new SyntaxError(`no JSON at ${at}`);
    at = TOKEN.lastIndex;
    return token;
  };
  const expect = (wanted: string) => {
    if (take() !== wanted) throw new SyntaxError(`no ${wanted} before ${at}`);
  };
  const members = <T>(end: string, member: () => T): T[] => {
    const found: T[] = [];
    if (peek() === end) {
      take();
      return found;
    }
    for (;;) {
      found.push(member());
      const token = take();
      if (token === end) return found;
      if (token !== ",") throw new SyntaxError(`no , before ${at}`);
    }
  };
  const value = (depth: number): JsonNode => {
    if (depth > DEEPEST) throw new SyntaxError("too deep");
    const token = take();
    if (token === "[") return { kind: "array", items: members("]", () => value(depth + 1)) };
    if (token === "{") {
      const entry = (): [string, JsonNode] => {
        const key = take();
        if (!key.startsWith('"')) throw new SyntaxError(`no key before ${at}`);
        expect(":");
        return [key, value(depth + 1)];
      };
      return { kind: "object", entries: members("}", entry) };
    }
    if (token.startsWith('"')) return { kind: "atom", text: token, of: "string" };
    if (/^[-\d]/.test(token)) return { kind: "atom", text: token, of: "number" };
    if (/^[a-z]/.test(token)) return { kind: "atom", text: token, of: "word" };
    throw new SyntaxError(`no value before ${at}`);
  };
  try {
    const node = value(0);
    return text.slice(at).trim() === "" ? node : undefined;
  } catch {
    return undefined;
  }
}

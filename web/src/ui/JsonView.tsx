import { useMemo } from "react";
import { type JsonNode, parseJson } from "@/lib/json";
import { CopyButton } from "./CopyId";

const COLOURS = { string: "text-ok", number: "text-info", word: "text-paused" };

function Node({ node, depth }: { node: JsonNode; depth: number }) {
  if (node.kind === "atom") return <span className={COLOURS[node.of]}>{node.text}</span>;
  const indent = "  ".repeat(depth + 1);
  const [open, close] = node.kind === "array" ? "[]" : "{}";
  const members: [string | undefined, JsonNode][] =
    node.kind === "array" ? node.items.map((item) => [undefined, item]) : node.entries;
  if (members.length === 0) return <span>{`${open}${close}`}</span>;
  return (
    <>
      {open}
      {members.map(([key, member], index) => (
        // The members of a text that does not change.
        // biome-ignore lint/suspicious/noArrayIndexKey: they have no other key, keys may even repeat
        <span key={index}>
          {`\n${indent}`}
          {key === undefined ? null : <span className="text-ink">{`${key}: `}</span>}
          <Node node={member} depth={depth + 1} />
          {index < members.length - 1 ? "," : ""}
        </span>
      ))}
      {`\n${"  ".repeat(depth)}${close}`}
    </>
  );
}

/** JSON, laid out, each token as it was written. What is copied is the text itself. */
export function JsonView({ text, what }: { text: string; what: string }) {
  const node = useMemo(() => parseJson(text), [text]);
  return (
    <div className="relative">
      <CopyButton text={text} what={what} className="absolute! top-2 right-2" />
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={what}
        className="mono max-h-[480px] overflow-auto p-3 pr-9 leading-[18px] whitespace-pre-wrap text-ink-2"
      >
        {node ? <Node node={node} depth={0} /> : text}
      </section>
    </div>
  );
}

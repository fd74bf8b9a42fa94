// Generates src/gql from the operations in src/**/*.graphql and ../schema.graphql. `--check` only tells whether it is current.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { preset } from "@graphql-codegen/client-preset";
import { codegen } from "@graphql-codegen/core";
import { buildASTSchema, parse } from "graphql";

const root = new URL("..", import.meta.url).pathname;
const read = (path) => readFileSync(join(root, path), "utf8");
const operations = readdirSync(join(root, "src"), { recursive: true })
  .filter((path) => path.endsWith(".graphql"))
  .sort();
const documents = operations.map((path) => ({
  location: path,
  document: parse(read(join("src", path))),
  rawSDL: read(join("src", path)),
}));
const schema = parse(read("../schema.graphql"));

const files = await preset.buildGeneratesSection({
  baseOutputDir: "src/gql/",
  schema,
  schemaAst: buildASTSchema(schema),
  documents,
  config: {
    strictScalars: true,
    // Long is a whole number that a JSON number holds exactly; JSON is only ever shown from its text.
    scalars: { ID: "string", Long: "number", DateTime: "string", UUID: "string", JSON: "unknown" },
    enumsAsTypes: true,
    useTypeImports: true,
    documentMode: "string",
  },
  presetConfig: {
    fragmentMasking: false,
    persistedDocuments: { hashAlgorithm: "sha256", mode: "embedHashInDocument" },
  },
  pluginContext: {},
  plugins: [],
  pluginMap: {},
  skipDocumentsValidation: {},
});

let stale = false;
for (const file of files.filter(({ filename }) => /(graphql\.ts|persisted-documents\.json)$/.test(filename))) {
  const text = `${(await codegen(file)).trimEnd()}\n`;
  const path = join(root, file.filename);
  let known = "";
  try {
    known = readFileSync(path, "utf8");
  } catch {}
  if (known === text) continue;
  stale = true;
  if (process.argv.includes("--check")) console.error(`${file.filename} is not current: npm run generate`);
  else writeFileSync(path, text);
}
if (stale && process.argv.includes("--check")) process.exit(1);

// Puts the compressed forms beside each built file, as the server hands them out, and tells the sizes.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const dist = new URL("../dist/console/", import.meta.url).pathname;
for (const path of readdirSync(dist, { recursive: true }).filter((path) => /\.(js|css|html|svg|json)$/.test(path))) {
  const plain = readFileSync(join(dist, path));
  if (plain.length < 1024) continue;
  writeFileSync(join(dist, `${path}.gz`), gzipSync(plain, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
  writeFileSync(join(dist, `${path}.br`), brotliCompressSync(plain, { params }));
}

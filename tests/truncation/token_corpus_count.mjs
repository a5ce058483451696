// Prints the tokens of o200k_base in each file of the corpus; kept in token_corpus.json.
// npm install gpt-tokenizer && node token_corpus_count.mjs > token_corpus.json
import { readdirSync, readFileSync } from "node:fs";
import { encode } from "gpt-tokenizer/encoding/o200k_base";

const folder = new URL("token_corpus/", import.meta.url);
const counts = {};
for (const name of readdirSync(folder).sort()) {
  const text = readFileSync(new URL(name, folder), "utf8");
  counts[name] = encode(text, { allowedSpecial: new Set() }).length;
}
console.log(JSON.stringify(counts, null, 2));

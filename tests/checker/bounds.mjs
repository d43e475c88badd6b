// Reads a JSON list of statements, and prints the bounds of each: fractions, or where a rule stops.
import { readFileSync } from "node:fs";

const file = new URL("../../checker/dpcheck.mjs", import.meta.url);
const inner = "\nexport { Stop, read, delta, quantity, work };";
const { Stop, read, delta, quantity, work } = await import(
  `data:text/javascript,${encodeURIComponent(readFileSync(file, "utf8") + inner)}`
);

const asMap = (v) => (Array.isArray(v) ? v.map(asMap)
  : v && typeof v === "object" ? new Map(Object.entries(v).map(([k, x]) => [k, asMap(x)])) : v);

function bound(claim, { releases, unit }, upper) {
  const named = ["add-remove", "zero-out"].includes(unit.neighbours), of = claim.derivation;
  try {
    const { n, d } = claim.measure === "delta"
      ? delta(releases, of, claim.epsilon, upper, named) : quantity(claim, releases, upper, named);
    return `${n}/${d}`;
  } catch (stop) {
    if (!(stop instanceof Stop)) throw stop;
    return stop.message;
  }
}

const results = JSON.parse(readFileSync(0, "utf8")).map((raw) => {
  const s = read("statement", asMap(raw));
  return s.claims.map((claim) => [work(claim, s.releases), bound(claim, s, true), bound(claim, s, false)]);
});
console.log(JSON.stringify(results));

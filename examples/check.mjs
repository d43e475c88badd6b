// Holds an implementation against a file of conformance vectors, exactly and without packages:
//   exactdp audit vectors export analytic_gaussian --output analytic_gaussian.json
//   node check.mjs analytic_gaussian.json [your-answers.mjs]
// The answers are a module that exports one function per question; it is called with the
// parameters as decimal strings and returns a number or a decimal string, or nothing.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** A decimal string, or a double at its exact value, as a fraction [numerator, denominator]. */
function exact(value) {
  if (typeof value === "number") return ofDouble(value);
  const parts = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(value.trim());
  if (!parts || !(parts[2] + parts[3])) throw new Error(`not a decimal: ${value}`);
  const digits = BigInt(parts[1] + parts[2] + parts[3]);
  const power = Number(parts[4] ?? 0) - parts[3].length;
  return power < 0 ? [digits, 10n ** BigInt(-power)] : [digits * 10n ** BigInt(power), 1n];
}

function ofDouble(value) {
  if (!Number.isFinite(value)) throw new Error(`${value} is no finite number`);
  let power = 0;
  while (!Number.isInteger(value)) {
    value *= 2; // exact: a power of two
    power += 1;
  }
  return [BigInt(value), 2n ** BigInt(power)];
}

const less = ([a, b], [c, d]) => a * d < c * b;

/**
 * safe: at least the true value and at most 1e-9 above it; loose: further above; unsafe: below it,
 * by rounding if by at most 1e-12, as in doubles without directed rounding.
 */
function verdict(test, answer) {
  if (answer === undefined || answer === null) return "unsupported";
  let found;
  try {
    found = exact(answer);
  } catch {
    return "no answer";
  }
  const [c, d] = exact(test.expected.lower);
  if (less(found, [c, d])) {
    const near = less([c * (10n ** 12n - 1n), d * 10n ** 12n], found);
    return near ? "unsafe by rounding" : "unsafe";
  }
  const [a, b] = exact(test.expected.upper);
  return less([a * 1000000001n, b * 1000000000n], found) ? "loose" : "safe";
}

const [, , file, module = resolve(dirname(fileURLToPath(import.meta.url)), "gaussian.mjs")] =
  process.argv;
const vectors = JSON.parse(readFileSync(file, "utf8"));
const answers = await import(pathToFileURL(resolve(module)));
const counts = {};
for (const { type: question, tests } of vectors.testGroups) {
  if (question === "pmf" || question === "cdf") continue; // probabilities: judge both sides
  for (const test of tests) {
    const judged = verdict(test, answers[question]?.(test.parameters));
    const row = (counts[question] ??= {});
    row[judged] = (row[judged] ?? 0) + 1;
    if (judged === "unsafe") console.log(`${test.id}: below ${test.expected.lower} (${test.comment})`);
  }
}
for (const [question, row] of Object.entries(counts)) {
  const text = Object.entries(row).map(([name, count]) => `${count} ${name}`);
  console.log(`${vectors.group} ${question}: ${text.join(", ")}`);
}
const unsafe = Object.values(counts).some((row) => row.unsafe || row["unsafe by rounding"]);
process.exitCode = unsafe ? 1 : 0;

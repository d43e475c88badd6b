"use strict";
const $ = (id) => document.getElementById(id);
const number = (text) => { // the rational number of a text as a double, for pictures and "about"
  const [top, bottom = "1"] = String(text).split("/");
  return bottom === "1" || top.length < 300 ? Number(top) / Number(bottom) : Number(BigInt(top) * 10n ** 18n / BigInt(bottom)) / 1e18;
};
const about = (x) => (x === 0 ? "0" : Math.abs(x) >= 1e6 || Math.abs(x) < 1e-3 ? x.toExponential(2) : String(Number(x.toPrecision(4))));
const between = (ends) => `${ends.lower} to ${ends.upper}`;

// Fields: least and most of the slider, on a logarithmic scale; the text may be any exact number.
const FIELDS = {
  k: { label: "k, keys of one user", help: "Largest number of keys (counters) to which one user contributes.", value: "10", least: 1, most: 1e5, whole: true },
  epsilon: { label: "ε", help: "Privacy loss; smaller is more private. At 1 an attacker becomes at most 73 % sure, at 3 at most 95 %.", value: "1", least: 0.01, most: 10 },
  delta: { label: "δ", help: "Probability of a larger loss; well below 1 / number of users.", value: "1e-6", least: 1e-12, most: 1e-2 },
  sensitivity: { label: "l2 sensitivity", help: "How far one user can move the answer.", value: "1", least: 0.01, most: 1000 },
  sigma: { label: "σ", help: "Standard deviation of your Gaussian noise.", value: "4", least: 0.1, most: 1000 },
  rho: { label: "ρ", help: "Parameter of zero-concentrated differential privacy (zCDP).", value: "0.1", least: 1e-4, most: 10 },
  values: { flag: "k", label: "k, possible values", help: "Number of values that a user may report.", value: "100", least: 2, most: 1e5, whole: true },
  n: { label: "n, reports", help: "Number of users who report.", value: "10000", least: 10, most: 1e8, whole: true },
  noise: { flag: "noise-multiplier", label: "noise multiplier", help: "Noise divided by the clipping norm.", value: "1", least: 0.3, most: 20 },
  rate: { label: "sampling rate", help: "Probability that a user is in the sample of a step.", value: "0.01", least: 1e-4, most: 1 },
  steps: { label: "steps", help: "Number of training steps.", value: "1000", least: 1, most: 1e6, whole: true },
};

// The least decimal with six places whose square is at least k.
function rootAbove(k) {
  const square = BigInt(k) * 10n ** 12n;
  let root = BigInt(Math.floor(Math.sqrt(Number(k)) * 1e6));
  while (root * root < square) root += 1n;
  while (root > 0n && (root - 1n) * (root - 1n) >= square) root -= 1n;
  const digits = String(root).padStart(7, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, "");
}

const noiseFacts = (found) => {
  const facts = [["noise σ", found.parameters.sigma, "main"]];
  if (found.parameters.tau) facts.push(["release counts above", `${number(found.parameters.tau) + 1} = 1 + τ`, "main"]);
  facts.push(["proved", `δ ≤ ${found.target}`]);
  facts.push(["δ, more exactly", between(found.delta), "exact"]);
  if (found.refuted) {
    const [name] = Object.keys(found.refuted).filter((key) => key !== "delta");
    facts.push([`refuted: ${name === "tau" ? "τ" : "σ"} = ${found.refuted[name]}`, `δ would be ${between(found.refuted.delta)}`, "exact"]);
  }
  return facts;
};
const within = (sigma) => ["error of an answer", `at most about ${about(1.96 * number(sigma))}, except with probability 0.05`];

const QUESTIONS = {
  unknown: {
    title: "Publish counts of unknown keys", fields: ["k", "epsilon", "delta"],
    about: "Words, URLs, queries: nobody knows beforehand which keys occur. Noise is added to the counts that are not zero, and only counts above a threshold are released. A user adds at most one to each of at most k counts.",
    words: (v) => ["calibrate", "discrete-gshm", "--k", v.k, "--epsilon", v.epsilon, "--delta", v.delta], statement: true,
    exact: (v) => ["calibrate", "csh", "--sparsity", v.k, "--epsilon", v.epsilon, "--delta", v.delta],
    python: (v) => `from exactdp.accounting import discrete_gshm\nnoise = discrete_gshm.calibrate(k=${v.k}, epsilon="${v.epsilon}", delta="${v.delta}")\nprint(noise.sigma, noise.tau, noise.delta)`,
    facts: (found) => [...noiseFacts(found), within(found.parameters.sigma)],
    picture: (found) => released(number(found.parameters.sigma), number(found.parameters.tau)),
  },
  known: {
    title: "Publish counts of known keys", fields: ["k", "epsilon", "delta"],
    about: "Countries, ages, products: the list of keys is public. Gaussian noise is added to every count, also to zeros, and no threshold is needed. A user adds at most one to each of at most k counts, so the l2 sensitivity is √k, rounded up here.",
    words: (v) => ["calibrate", "gaussian", "--sensitivity", rootAbove(v.k), "--epsilon", v.epsilon, "--delta", v.delta], statement: true,
    python: (v) => `from exactdp.accounting import gaussian\nnoise = gaussian.calibrate(sensitivity="${rootAbove(v.k)}", epsilon="${v.epsilon}", delta="${v.delta}")\nprint(noise.sigma, noise.delta)`,
    facts: (found) => [...noiseFacts(found), within(found.parameters.sigma)],
    picture: (found) => bell(number(found.parameters.sigma)),
  },
  gaussian: {
    title: "Add Gaussian noise to an answer", fields: ["sensitivity", "epsilon", "delta"],
    about: "A mean, a sum or a vector with real values. The l2 sensitivity is the largest distance by which one user can move it.",
    words: (v) => ["calibrate", "gaussian", "--sensitivity", v.sensitivity, "--epsilon", v.epsilon, "--delta", v.delta], statement: true,
    python: (v) => `from exactdp.accounting import gaussian\nnoise = gaussian.calibrate(sensitivity="${v.sensitivity}", epsilon="${v.epsilon}", delta="${v.delta}")\nprint(noise.sigma, noise.delta)`,
    facts: (found) => [...noiseFacts(found), within(found.parameters.sigma)],
    picture: (found) => bell(number(found.parameters.sigma)),
  },
  given: {
    title: "I have noise: what is δ?", fields: ["sigma", "sensitivity", "epsilon"],
    about: "The exact δ of Gaussian noise with a given standard deviation, at the ε of your choice.",
    words: (v) => ["delta", "gaussian", "--sigma", v.sigma, "--sensitivity", v.sensitivity, "--epsilon", v.epsilon], statement: true,
    python: (v) => `from exactdp.accounting import gaussian\nprint(gaussian.delta(sigma="${v.sigma}", sensitivity="${v.sensitivity}", epsilon="${v.epsilon}"))`,
    facts: (found) => [["δ is", between(found.delta), "main"]],
    picture: (found) => bell(number(found.parameters.sigma)),
  },
  convert: {
    title: "Convert ρ-zCDP", fields: ["rho", "epsilon"],
    about: "A mechanism with ρ-zCDP satisfies (ε, δ)-DP for every ε, with this δ (Canonne, Kamath, Steinke, at the best order).",
    words: (v) => ["delta", "zcdp", "--rho", v.rho, "--epsilon", v.epsilon],
    python: (v) => `from exactdp.accounting import zcdp\nprint(zcdp.delta(rho="${v.rho}", epsilon="${v.epsilon}"))`,
    facts: (found) => [["δ is at most", between(found.delta), "main"]],
    picture: (found) => converted(number(found.parameters.rho), number(found.epsilon), number(found.delta.upper)),
  },
  target: {
    title: "Convert a target to ρ", fields: ["epsilon", "delta"],
    about: "The largest ρ for which ρ-zCDP implies (ε, δ)-DP: a budget that can be divided, since ρ adds up.",
    words: (v) => ["calibrate", "zcdp", "--epsilon", v.epsilon, "--delta", v.delta],
    python: (v) => `from exactdp.accounting import zcdp\nprint(zcdp.rho(epsilon="${v.epsilon}", delta="${v.delta}"))`,
    facts: (found) => [["ρ is", between(found.rho), "main"]],
    picture: (found) => converted(number(found.rho.lower), number(found.epsilon), number(found.target)),
  },
  local: {
    title: "Collect reports that users randomize", fields: ["values", "epsilon", "n"],
    about: "Nobody has to trust the server: every user sends a randomized report of one of k values, and the shares of the values are estimated. Which mechanism has the smallest error?",
    words: (v) => ["local", "compare", "--k", v.values, "--epsilon", v.epsilon, "--n", v.n],
    python: (v) => `from exactdp.local.comparison import compare\nfor row in compare(${v.values}, "${v.epsilon}", ${v.n}):\n    print(row.name, row.square_error)`,
    rows: (found, v) => found.map((row) => [row.mechanism, about(Math.sqrt(number(row.square_error) / Number(v.values))), row.square_error, row.bits]),
    header: ["mechanism", "error of a share", "square error, exactly", "bits"],
    picture: (found, v) => bars(found.map((row) => [row.mechanism, Math.sqrt(number(row.square_error) / Number(v.values))])),
  },
  training: {
    title: "Train a model with noise", fields: ["noise", "rate", "steps", "delta"],
    about: "The ε of DP-SGD, with Poisson samples. Most answers take a second or two here, those about tens of thousands of steps up to a minute; the command is ten times faster.",
    words: (v) => ["sgd", "--noise-multiplier", v.noise, "--rate", v.rate, "--steps", v.steps, "--delta", v.delta],
    python: (v) => `from exactdp.accounting import pld\nloss = pld.sgd(noise_multiplier="${v.noise}", rate="${v.rate}", steps=${v.steps})\nprint(loss.epsilon("${v.delta}"))`,
    facts: (found) => [["ε is", between(found.epsilon), "main"], ["at δ", found.given.delta]],
  },
  check: { title: "Check a privacy statement" },
};

// Pictures ---------------------------------------------------------------------------------------

const phi = (x) => { // the normal distribution function, for pictures (Abramowitz and Stegun 7.1.26)
  const t = 1 / (1 + 0.3275911 * Math.abs(x) / Math.SQRT2);
  const tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) * Math.exp(-x * x / 2);
  return x > 0 ? 1 - tail / 2 : tail / 2;
};

function chart(points, { x, y, marks = [], caption }) {
  const [w, h, left, low] = [640, 260, 54, 44];
  const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
  const [x0, x1, y1] = [Math.min(...xs), Math.max(...xs), Math.max(...ys)];
  const X = (v) => left + (v - x0) / (x1 - x0 || 1) * (w - left - 12), Y = (v) => h - low - v / (y1 || 1) * (h - low - 16);
  const line = points.map(([a, b], i) => `${i ? "L" : "M"}${X(a).toFixed(1)} ${Y(b).toFixed(1)}`).join("");
  const ticks = [0, 1, 2, 3, 4].map((i) => x0 + (x1 - x0) * i / 4);
  const text = (a, b, s, more = "") => `<text x="${a}" y="${b}" ${more}>${s}</text>`;
  const svg = [
    `<svg viewBox="0 0 ${w} ${h}" role="img" aria-label="${caption}" font-size="14" fill="currentColor">`,
    `<path d="M${left} ${h - low}H${w - 12}M${left} ${h - low}V12" stroke="currentColor" fill="none" opacity=".5"/>`,
    ...ticks.map((v) => text(X(v), h - low + 18, about(v), 'text-anchor="middle"')),
    text(left - 6, 22, about(y1), 'text-anchor="end"'), text(left - 6, h - low, "0", 'text-anchor="end"'),
    text(w / 2, h - 6, x, 'text-anchor="middle"'), text(left + 8, 22, y),
    `<path d="${line}" stroke="var(--blue)" stroke-width="3" fill="none"/>`,
    ...marks.map(([v, s]) => `<path d="M${X(v)} ${h - low}V12" stroke="var(--orange)" stroke-width="2" stroke-dasharray="5 4"/>${text(X(v) - 6, 40, s, 'text-anchor="end"')}`),
    "</svg>",
  ];
  return { svg: svg.join(""), caption };
}
const grid = (least, most, f, n = 120) => Array.from({ length: n + 1 }, (_, i) => { const x = least + (most - least) * i / n; return [x, f(x)]; });

const released = (sigma, tau) => chart(grid(0, 2 * (1 + tau), (c) => phi((c - 1 - tau) / sigma)), {
  x: "true count", y: "probability that the key is released", marks: [[1 + tau, `threshold ${about(1 + tau)}`]],
  caption: `A key with ${about(1 + tau)} users is released half of the time; one with ${about(1 + tau + 2 * sigma)} users almost always.`,
});
const bell = (sigma) => chart(grid(-4 * sigma, 4 * sigma, (x) => Math.exp(-x * x / (2 * sigma * sigma))), {
  x: "noise", y: "density", marks: [[1.96 * sigma, `95 % within ${about(1.96 * sigma)}`]],
  caption: `The noise is within ${about(1.96 * sigma)} of zero with probability 0.95.`,
});
const converted = (rho, epsilon, delta) => chart(grid(0, Math.max(2 * epsilon, rho + 6 * Math.sqrt(rho)), (e) => {
  if (e <= rho) return 0;
  return -Math.max(-40, -((e - rho) ** 2) / (4 * rho) / Math.LN10);
}), {
  x: "ε", y: "−log10 δ (the usual formula, for orientation)", marks: [[epsilon, `δ ${about(delta)}`]],
  caption: `At ε = ${about(epsilon)}, δ is about ${about(delta)}.`,
});
function bars(rows) {
  const most = Math.max(...rows.map((r) => r[1])), h = 30 * rows.length + 10;
  const caption = `The smallest error of a share, ${about(rows[0][1])}, is that of ${rows[0][0]}.`;
  const svg = rows.map(([name, value], i) => `<text x="0" y="${30 * i + 22}">${name}</text><rect x="190" y="${30 * i + 8}" width="${Math.max(2, 340 * value / most)}" height="18" fill="var(--blue)"/><text x="${198 + 340 * value / most}" y="${30 * i + 22}">${about(value)}</text>`);
  return { svg: `<svg viewBox="0 0 640 ${h}" role="img" aria-label="${caption}" font-size="15" fill="currentColor">${svg.join("")}</svg>`, caption };
}

// Workers ----------------------------------------------------------------------------------------

function bytesOf(id) {
  const text = $(id).textContent;
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}
const script = (text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
let parts, main, exactWorker, judgeWorker, shown, last = 0, reached = 0, question = "unknown";
// The answers to the first values of all questions, by the words of the command.
const KNOWN = JSON.parse($("part-known").textContent);
const LONGEST = 10000; // milliseconds for an answer that nobody waits for
const values = Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [name, field.value]));

function engine(onready) { // a worker with the library; ask(words) gives a promise
  const worker = new Worker(script($("part-worker").textContent)), waiting = new Map();
  worker.onmessage = ({ data }) => {
    if (data.loaded) reached = data.loaded;
    else if (data.ready) onready(data.ready);
    else if (waiting.has(data.id)) { waiting.get(data.id)(data); waiting.delete(data.id); } else if (data.failed) say(`This browser could not start the library: ${data.failed}`);
  };
  worker.onerror = (event) => say(`This browser could not start the library: ${event.message || "no worker"}`);
  worker.postMessage({ start: parts });
  let id = 0;
  const ask = (words) => new Promise((answer) => { waiting.set(++id, answer); worker.postMessage({ id, words }); });
  return { ask, end: () => worker.terminate() };
}

const say = (text) => { $("status").textContent = text; };

// The bar moves on its own between two stages, and ends with the first answer.
const moving = setInterval(() => { $("progress").value = Math.max(reached, $("progress").value + 0.02 * (1 - $("progress").value)); }, 200);

function start() {
  parts = Object.fromEntries(["loader", "glue", "wasm", "lock", "stdlib", "packages", "engine"].map((name) => {
    const bytes = bytesOf(`part-${name}`);
    return [name, { bytes, zipped: bytes[0] === 0x1f && bytes[1] === 0x8b }];
  }));
  main = engine((seconds) => {
    document.body.dataset.loaded = seconds.toFixed(1);
    main.ready = true;
    ask();
  });
}

// The page ---------------------------------------------------------------------------------------

const flagged = (words) => ["exactdp", ...words].join(" ");

function field(name) {
  const { label, help, least, most, whole } = FIELDS[name], box = document.createElement("div");
  box.className = "field";
  box.innerHTML = `<label for="text-${name}">${label}</label><small id="help-${name}">${help}</small><div class="row"><input type="range" id="range-${name}" min="0" max="1000" step="1" aria-label="${label}, slider" aria-describedby="help-${name}"><input type="text" id="text-${name}" inputmode="decimal" autocomplete="off" spellcheck="false" aria-describedby="help-${name}"></div>`;
  const range = box.querySelector("[type=range]"), text = box.querySelector("[type=text]");
  const place = () => { range.value = Math.round(1000 * Math.log(number(values[name]) / least) / Math.log(most / least)) || 0; range.setAttribute("aria-valuetext", values[name]); };
  text.value = values[name];
  place();
  range.addEventListener("input", () => {
    const x = least * (most / least) ** (range.value / 1000);
    values[name] = text.value = whole ? String(Math.max(least, Number(x.toPrecision(3)) | 0)) : String(Number(x.toPrecision(2)));
    range.setAttribute("aria-valuetext", values[name]);
    ask();
  });
  text.addEventListener("input", () => { values[name] = text.value.trim(); place(); ask(); });
  return box;
}

function choose(name) {
  question = name;
  const chosen = QUESTIONS[name], checks = name === "check";
  $("calculator").hidden = checks;
  $("checking").hidden = !checks;
  clear();
  if (checks) say("Choose a statement to check.");
  else {
    $("question-title").textContent = chosen.title;
    $("about").textContent = chosen.about;
    $("fields").replaceChildren(...chosen.fields.map(field));
  }
  ask();
}

function clear() {
  for (const id of ["answer", "picture", "caption"]) $(id).replaceChildren();
  $("answer").classList.remove("stale");
}

function facts(rows) {
  const list = document.createElement("dl");
  for (const [name, value, kind] of rows) {
    const [pair, dt, dd] = ["div", "dt", "dd"].map((tag) => document.createElement(tag));
    dt.textContent = name; dd.textContent = value; pair.className = kind || "";
    pair.append(dt, dd);
    list.append(pair);
  }
  return list;
}

function tabled(header, rows) {
  const box = document.createElement("div"), row = (cells, tag) => `<tr>${cells.map((c) => `<${tag}>${c}</${tag}>`).join("")}</tr>`;
  box.className = "scroll"; box.tabIndex = 0;
  box.innerHTML = `<table><thead>${row(header, "th")}</thead><tbody>${rows.map((r) => row(r, "td")).join("")}</tbody></table>`;
  return box;
}

function ask() { // after every change of a question or a value
  const chosen = QUESTIONS[question], words = wordsOf(chosen);
  last++;
  stopExact();
  $("exact-answer")?.remove();
  if (question === "check") return; // the answer that is being computed stays unseen
  $("download").hidden = true;
  $("exact").hidden = !words || !chosen.exact || !main?.ready;
  if (!words) { clear(); return void say("Enter numbers."); }
  $("command").textContent = flagged(words);
  $("python").textContent = chosen.python(values);
  const known = KNOWN[words.join(" ")];
  if (known && !main?.ready) {
    show(chosen, known, { ...values });
    return void say("Certified when this page was built.");
  }
  if (!main?.ready) { clear(); say("Loading the library …"); }
  if (main?.ready && !ask.running) return void answer();
  // a running answer asks for the newest values when it is done; one that takes too long is given up
  if (ask.running && performance.now() - ask.begun > LONGEST) { main.end(); ask.running = false; start(); }
}

function wordsOf(chosen) {
  try { return chosen.words(values); } catch { return null; }
}

async function answer() {
  const chosen = QUESTIONS[question], words = wordsOf(chosen), mine = last, v = { ...values };
  if (!words) return;
  [ask.running, ask.begun] = [true, performance.now()];
  say("Computing …");
  const late = setTimeout(() => $("answer").classList.add("stale"), 300);
  const found = await main.ask([...words, "--json"]);
  clearTimeout(late);
  clearInterval(moving);
  $("progress").hidden = true;
  ask.running = false;
  if (mine !== last) return answer();
  $("answer").classList.remove("stale");
  for (const name of chosen.fields) $(`text-${name}`).setAttribute("aria-invalid", String(found.code > 1 && found.error.startsWith(`exactdp: ${FIELDS[name].flag || name} `)));
  if (found.failed || found.code > 1) {
    const box = document.createElement("p");
    box.className = "bad"; box.textContent = found.failed || found.error.replace("exactdp: ", "");
    clear();
    $("answer").replaceChildren(box);
    return void say("No answer.");
  }
  shown = words;
  show(chosen, found.out, v);
  $("download").hidden = !chosen.statement;
  say(`Certified in ${found.seconds.toFixed(2)} s.`);
  document.body.dataset.seconds = found.seconds.toFixed(3);
}

function show(chosen, printed, v) {
  const data = JSON.parse(printed);
  $("answer").dataset.json = printed.trim();
  $("answer").replaceChildren(chosen.rows ? tabled(chosen.header, chosen.rows(data, v)) : facts(chosen.facts(data)));
  const { svg, caption } = chosen.picture?.(data, v) ?? { svg: "", caption: "" };
  $("picture").innerHTML = svg;
  $("caption").textContent = caption;
}

function stopExact() {
  if (!exactWorker) return;
  exactWorker.end();
  clearInterval(exactWorker.clock);
  exactWorker = null;
  $("exact").textContent = "Compute the exact CSH, for a histogram of at most k counters in all (about ten seconds)";
}

$("exact").addEventListener("click", async () => {
  if (exactWorker) return stopExact();
  const words = QUESTIONS[question].exact({ ...values }), begun = Date.now();
  const worker = engine(() => {});
  exactWorker = worker;
  worker.clock = setInterval(() => { $("exact").textContent = `Stop (computing for ${Math.round((Date.now() - begun) / 1000)} s)`; }, 500);
  const found = await worker.ask([...words, "--json"]);
  if (exactWorker !== worker) return;
  stopExact();
  if (found.failed || found.code) return void say(found.failed || found.error);
  const data = JSON.parse(found.out), box = document.createElement("div");
  box.id = "exact-answer"; box.dataset.json = found.out.trim();
  const heading = document.createElement("h3");
  heading.textContent = "Correlated noise (CSH), exact analysis: only if the whole histogram never has more than k non-zero counts, whatever the data are. A bound of k on each user does not ensure this.";
  box.append(heading, facts(noiseFacts(data)));
  $("exact-answer")?.remove();
  $("answer").after(box); // outside, so that an answer that comes later does not remove it
  $("command").textContent = `${flagged(QUESTIONS[question].words({ ...values }))}\n${flagged(words)}`;
  say(`The exact CSH took ${Math.round((Date.now() - begun) / 1000)} s.`);
});

$("download").addEventListener("click", async () => {
  say("Proving the statement …");
  const found = await main.ask([...shown, "--json", "--statement", "statement.json"]);
  if (!found.statement) return void say(found.failed || found.error);
  say("The statement is ready.");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([found.statement], { type: "application/json" }));
  link.download = "privacy-statement.json";
  link.click();
});

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const text = $(button.dataset.copy).textContent;
    try { await navigator.clipboard.writeText(text); } catch {
      const range = document.createRange(); // a page from a file may not write to the clipboard
      range.selectNodeContents($(button.dataset.copy));
      getSelection().removeAllRanges(); getSelection().addRange(range);
      document.execCommand("copy");
    }
    say("Copied.");
  });
}

// Checking a statement: the stand-alone checker in a worker of its own ----------------------------

async function judge(file) {
  $("verdict").textContent = "Checking …";
  const text = await file.text();
  const code = `${$("part-checker").textContent}\nself.onmessage = ({ data }) => postMessage(check(data));`;
  judgeWorker?.terminate(); // the verdict is that of the file dropped last
  const worker = judgeWorker = new Worker(script(code));
  worker.onmessage = ({ data }) => {
    const word = document.createElement("strong");
    word.className = data.verdict === "valid" ? "good" : "bad";
    word.textContent = `${file.name}: ${data.verdict}`;
    const reason = document.createElement("p");
    reason.textContent = `${data.reason}. SHA-256 of the statement: ${data.sha256}`;
    $("verdict").replaceChildren(word, reason);
    $("verdict").dataset.verdict = data.verdict;
    worker.terminate();
  };
  worker.postMessage(text);
}
$("file").addEventListener("change", () => $("file").files[0] && judge($("file").files[0]));
for (const kind of ["dragover", "dragleave", "drop"]) {
  $("drop").addEventListener(kind, (event) => {
    event.preventDefault();
    $("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files[0]) judge(event.dataTransfer.files[0]);
  });
}

for (const [name, { title }] of Object.entries(QUESTIONS)) {
  const label = document.createElement("label");
  label.innerHTML = `<input type="radio" name="question" value="${name}"> ${title}`;
  label.firstChild.checked = name === question;
  label.firstChild.addEventListener("change", () => choose(name));
  $("questions").append(label);
}
choose(question);

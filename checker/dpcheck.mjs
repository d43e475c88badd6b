// Checks a privacy statement (format dp-statement/1), in browsers and Node: the same rules as
// dpcheck.py, from SPECIFICATION.md, with BigInt alone.   node dpcheck.mjs statement.json
// check(text) returns {verdict: "valid" | "not proved" | "malformed", reason, sha256}.

const P = 256n, ONE = 1n << P, SPARE = 1n << (P - 80n);
const SECONDS = 50, BYTES = 1 << 20, NODES = 1 << 13, WINDOW = 1 << 14, PARTS = 1 << 16, ORDER = 512n;

class Stop extends Error {
  constructor(verdict, reason) { super(reason); this.verdict = verdict; }
}

let end = Infinity;

function prove(fact, reason, verdict = "not proved") {
  if (!fact) throw new Stop(verdict, reason);
  if (Date.now() > end) throw new Stop("not proved", `the check takes more than ${SECONDS} seconds`);
}

const demand = (fact, reason) => prove(fact, reason, "malformed");

// Whole numbers and fractions ----------------------------------------------------------------------

const abs = (a) => (a < 0n ? -a : a), least = (a, b) => (a < b ? a : b), most = (a, b) => (a > b ? a : b);
const floor = (a, b) => (a >= 0n ? a / b : -((b - 1n - a) / b)); // b > 0
const ceil = (a, b) => -floor(-a, b);
const up = (n, bits) => -(-n >> bits);
const bits = (n) => (n === 0n ? 0 : n.toString(16).length * 4 - Math.clz32(parseInt(n.toString(16)[0], 16)) + 28);
const gcd = (a, b) => { while (b) [a, b] = [b, a % b]; return abs(a); };

function isqrt(n) {
  if (n < 2n) return n;
  let x = 1n << BigInt((bits(n) + 1) >> 1);
  for (;;) { const y = (x + n / x) >> 1n; if (y >= x) return x; x = y; }
}

class Q { // a fraction in lowest terms, d > 0
  constructor(n, d = 1n) {
    const g = gcd(n, d) || 1n, sign = d < 0n ? -1n : 1n;
    this.n = sign * n / g; this.d = sign * d / g;
  }
  plus(o) { return new Q(this.n * o.d + o.n * this.d, this.d * o.d); }
  minus(o) { return new Q(this.n * o.d - o.n * this.d, this.d * o.d); }
  times(o) { return new Q(this.n * o.n, this.d * o.d); }
  over(o) { return new Q(this.n * o.d, this.d * o.n); }
  compare(o) { const a = this.n * o.d, b = o.n * this.d; return a < b ? -1 : a > b ? 1 : 0; }
}
const q = (n, d = 1) => new Q(BigInt(n), BigInt(d));
const sumOf = (list) => list.reduce((s, x) => s.plus(x), q(0));
const NUMBER = /^(?:0|[1-9][0-9]*)(?:(?:\.[0-9]+)?(?:e-?[1-9][0-9]{0,2})?|\/[1-9][0-9]*)$/;

function fraction(text) {
  if (text.includes("/")) { const [n, d] = text.split("/"); return new Q(BigInt(n), BigInt(d)); }
  const [digits, exponent = "0"] = text.split("e"), [whole, part = ""] = digits.split(".");
  const shift = Number(exponent) - part.length, n = BigInt(whole + part);
  return shift < 0 ? new Q(n, 10n ** BigInt(-shift)) : new Q(n * 10n ** BigInt(shift));
}

// Real numbers: from lo / 2^P to hi / 2^P, every operation rounds outward ---------------------------

class Real {
  constructor(lo, hi = lo) { this.lo = lo; this.hi = hi; }
  plus(o) { return new Real(this.lo + o.lo, this.hi + o.hi); }
  minus(o) { return new Real(this.lo - o.hi, this.hi - o.lo); }
  times(o) {
    if (this.lo >= 0n && o.lo >= 0n) return new Real((this.lo * o.lo) >> P, up(this.hi * o.hi, P));
    const ends = [this.lo * o.lo, this.lo * o.hi, this.hi * o.lo, this.hi * o.hi];
    return new Real(ends.reduce(least) >> P, up(ends.reduce(most), P));
  }
  over(o) {
    prove(this.lo >= 0n && o.lo > 0n, "a quotient of numbers that may be negative or 0");
    return new Real((this.lo << P) / o.hi, ceil(this.hi << P, o.lo));
  }
  sqrt() { return new Real(isqrt(most(this.lo, 0n) << P), isqrt(this.hi << P) + 1n); }
  exp() {
    const n = abs(this.lo), width = this.hi - this.lo;
    prove(width <= ONE && n < ONE << 15n, "the argument of e^x is too large");
    const k = BigInt(Math.max(bits(n) - Number(P) + 8, 0));
    let at = series(ONE, new Real(n >> k, up(n, k)), 1n, 1n);
    for (let i = 0n; i < k; i++) at = at.times(at);
    if (this.lo < 0n) at = UNIT.over(at);
    return new Real(at.lo, up(at.hi * (ONE + 2n * width), P));
  }
  log() {
    prove(this.lo > 0n, "a logarithm of a number that may be 0");
    const k = BigInt(bits(this.lo)) - P - 1n;
    const m = k > 0n ? new Real(this.lo >> k, up(this.lo, k)) : new Real(this.lo << -k);
    const at = TWO.times(atanh(m.minus(UNIT).over(m.plus(UNIT)))).plus(LN2.times(new Real(k << P)));
    return new Real(at.lo, at.hi + ceil((this.hi - this.lo) * ONE, this.lo));
  }
  tail() {
    const n = abs(this.lo), square = new Real((n * n) >> P, up(n * n, P));
    let at = new Real(0n, 1n);
    if (n < 19n * ONE) at = HALF.minus(series(n, square, 3n, 2n).over(HALF.times(square).exp().times(ROOT_2PI)));
    if (this.lo < 0n) at = UNIT.minus(at);
    return new Real(most(at.lo - up(this.hi - this.lo, 1n), 0n), most(at.hi, 0n));
  }
}

function series(t, r, j, step) { // t + t r/j + t r^2/(j (j + step)) + ...
  let low = t, high = t, s = t, sUp = t;
  while (high > 1n || 2n * r.hi > j << P) {
    low = ((low * r.lo) >> P) / j; high = ceil(up(high * r.hi, P), j); j += step;
    s += low; sUp += high;
  }
  return new Real(s, sUp + 1n);
}

function atanh(z) { // z + z^3/3 + ..., 0 <= z <= 1/3
  const square = z.times(z);
  let low = z.lo, high = z.hi, s = 0n, sUp = 1n;
  for (let j = 1n; j < 165n; j += 2n) {
    s += low / j; sUp += ceil(high, j);
    low = (low * square.lo) >> P; high = up(high * square.hi, P);
  }
  return new Real(s, sUp);
}

const real = (f) => new Real(floor(f.n << P, f.d), ceil(f.n << P, f.d));
const whole = (n) => new Real(BigInt(n) << P);
const UNIT = whole(1), NOTHING = whole(0), TWO = whole(2), HALF = real(q(1, 2));
const LN2 = TWO.times(atanh(real(q(1, 3))));
const PI = 314159265358979323846264338327950288419716939937510582097494459230781640628620899n;
const ROOT_2PI = new Real(real(new Q(2n * PI, 10n ** 80n)).lo, real(new Q(2n * PI + 2n, 10n ** 80n)).hi).sqrt();

// Curves: a law maps x to [P(S), Q(S), top], with top / 2^P >= G(x) --------------------------------

const gaussian = (mu) => (x) => {
  const t = x.log().times(UNIT.over(mu)), half = mu.times(HALF);
  const a = t.minus(half).tail(), b = t.plus(half).tail();
  return [a, b, a.minus(x.times(b)).hi];
};

const laplace = (mu) => (x) => {
  const high = mu.exp(), low = UNIT.over(high);
  if (x.lo < low.hi) return [UNIT, UNIT, ONE - x.lo + low.hi - low.lo];
  if (x.lo >= high.hi) return [NOTHING, NOTHING, 0n];
  const a = UNIT.minus(HALF.times(x.times(low).sqrt())), b = HALF.over(x.times(high).sqrt());
  return [a, b, most(a.minus(x.times(b)).hi, 0n)];
};

function outcomes(pairs) {
  const always = pairs.filter(([, b]) => b.lo <= 0n);
  const rest = pairs.filter(([, b]) => b.lo > 0n).map(([a, b]) => [a, b, (a.hi << P) / b.lo]);
  rest.sort((a, b) => (a[2] > b[2] ? -1 : a[2] < b[2] ? 1 : 0));
  const sums = [[NOTHING, NOTHING]];
  for (const [a, b] of [...always, ...rest]) { const [s, t] = sums.at(-1); sums.push([s.plus(a), t.plus(b)]); }
  return (x) => {
    let low = 0, high = rest.length; // how many have p.hi / q.lo >= x.lo
    while (low < high) { const mid = (low + high) >> 1; if (rest[mid][2] >= x.lo) low = mid + 1; else high = mid; }
    const [a, b] = sums[always.length + low];
    return [a, b, a.minus(new Real(x.lo).times(b)).hi];
  };
}

function response(epsilon, delta) {
  const told = real(delta), no = real(q(1).minus(delta)).over(real(epsilon).exp().plus(UNIT));
  const yes = UNIT.minus(told).minus(no);
  return outcomes([[told, NOTHING], [yes, no], [no, yes], [NOTHING, told]]);
}

function lattice(power, rate, shift) {
  let c = (180n * rate.d) / rate.n;
  c = 1n + (power === 2n ? isqrt(c) : c);
  prove(2n * c + shift <= PARTS, `a law has more than ${PARTS} outcomes`);
  const g = [], cells = [];
  for (let z = 0n; z <= c; z++) g.push(real(rate.times(new Q(-(z ** power)))).exp());
  const r = real(rate.times(new Q((c - 1n) ** power - c ** power))).exp(), last = g.at(-1);
  const rest = new Real(0n, TWO.times(last).times(r).over(UNIT.minus(r)).hi), far = new Real(0n, last.hi);
  const n = g.slice(1).reduce((s, v) => s.plus(v).plus(v), rest.plus(g[0]));
  const part = g.map((v) => v.over(n)), mass = (z) => (abs(z) > c ? far : part[Number(abs(z))]);
  for (let z = -c; z <= c + shift; z++) cells.push([mass(z - shift), mass(z)]);
  return outcomes([...cells, [rest, rest]]);
}

const sampled = (law, rate) => (x) => {
  const without = real(q(1).minus(rate)), share = real(rate);
  const u = x.minus(without).times(real(q(1).over(rate)));
  if (u.lo <= 0n) return [UNIT, UNIT, ONE - x.lo + u.hi - u.lo];
  const [a, b, top] = law(u);
  return [share.times(a).plus(without.times(b)), b, up(share.hi * top, P)];
};

const backward = (law) => (x) => {
  const [a, b, top] = law(UNIT.over(x));
  return [UNIT.minus(b), UNIT.minus(a), UNIT.minus(x).plus(x.times(new Real(top))).hi];
};

const shown = (r) => // the probability that a sparse histogram releases one of k keys of one user alone
  UNIT.minus(whole(r.k).times(UNIT.minus(real(r.tau.over(r.sigma)).tail()).log()).exp());

function histogram(r) {
  const noise = gaussian(real(q(r.k).over(r.sigma.times(r.sigma))).sqrt()), seen = shown(r);
  return (x) => {
    const [a, b, top] = noise(x);
    return [a, b, [seen.hi, UNIT.minus(x).plus(x.times(seen)).hi].reduce(most, top)];
  };
}

function laws(r) {
  let law;
  const size = r.sensitivity;
  if (r.mechanism === "gaussian") law = gaussian(real(size.over(r.sigma)));
  else if (r.mechanism === "laplace") law = laplace(real(size.over(r.scale)));
  else if (r.mechanism === "finite-law") law = outcomes(r.outcomes.map((pair) => pair.map(real)));
  else if (["randomized-response", "approximate"].includes(r.mechanism)) law = response(...pure(r));
  else if (r.mechanism === "gaussian-sparse-histogram") law = histogram(r);
  else {
    prove(r.mechanism.startsWith("discrete-"), `there is no curve of a ${r.mechanism}`);
    prove(size.d === 1n, "the sensitivity of integers is an integer");
    law = r.sigma2 ? lattice(2n, q(1, 2).over(r.sigma2), size.n) : lattice(1n, q(1).over(r.scale), size.n);
  }
  if (r.rate && r.rate.compare(q(1)) < 0) law = sampled(law, r.rate);
  return [law, backward(law)];
}

// Composition on a grid -----------------------------------------------------------------------------

function above(law, x, size) {
  const v = x.map((t) => least(law(t)[2], ONE));
  for (let k = v.length - 2; k >= 0; k--) v[k] = most(v[k], v[k + 1]);
  const f = v.map((y, k) => new Real((k ? v[k - 1] : ONE) - y).over(x[k].minus(k ? x[k - 1] : NOTHING)));
  const masses = x.map((t, k) => t.times(f[k].minus(k + 1 < f.length ? f[k + 1] : NOTHING)).hi);
  return [masses.map((m) => up(most(m, 0n), P - size)), up(v.at(-1), P - size)];
}

function below(law, x, size) {
  const n = x.length, tails = x.map(law), last = tails[n - 1];
  const infinite = last[1].hi <= 0n ? last[0].lo : 0n;
  const cells = tails.map(([a, b], k) => (k + 1 < n ? [a.minus(tails[k + 1][0]), b.minus(tails[k + 1][1])]
    : infinite > 0n ? [NOTHING, NOTHING] : [a, b]));
  const over = cells.map(([a, b], k) => most(a.minus(x[k].times(b)).lo, 0n));
  const under = cells.slice(0, -1).map(([a, b], k) => most(x[k + 1].times(b).minus(a).hi, 1n));
  const left = Array(n).fill(0n), right = Array(n).fill(ONE), lost = Array(n).fill(0n);
  for (let k = n - 2; k >= 0; k--) {
    const share = ONE - (most(right[k + 1] - SPARE, 0n) * over[k + 1]) / under[k];
    right[k] = most(share, 0n); lost[k] = lost[k + 1] + most(-share, 0n) * under[k];
  }
  let meet = n - 1, fewest = null;
  for (let k = 0; k < n; k++) {
    if (k) left[k] = SPARE + ((ONE - left[k - 1]) * under[k - 1]) / most(over[k], 1n);
    if (left[k] > ONE) break;
    const loss = lost[k] + (right[k] - left[k]) * over[k];
    if (right[k] >= left[k] && (fewest === null || loss < fewest)) { meet = k; fewest = loss; }
  }
  const share = [...left.slice(0, meet), ...right.slice(meet)], masses = Array(n).fill(0n);
  for (let k = 0; k < n; k++) {
    const own = new Real(share[k]), rest = k ? new Real(ONE - share[k - 1]) : NOTHING;
    const [a, b] = [0, 1].map((i) => own.times(cells[k][i]).plus(k ? rest.times(cells[k - 1][i]) : NOTHING));
    const node = [k, k - 1].find((j) => j >= 0 && x[j].times(b).hi <= a.lo);
    if (node !== undefined) masses[node] += x[node].times(b).lo;
  }
  return [masses.map((m) => most(m, 0n) >> (P - size)), most(infinite, 0n) >> (P - size)];
}

const total = (list) => list.reduce((s, v) => s + v, 0n);

function compose([i, a, s], [j, b, t], [low, high], size, upper) {
  const widest = (list) => bits(list.reduce(most)), digits = (widest(a) + widest(b) + 32) >> 2;
  const packed = (list) => BigInt("0x" + list.map((v) => v.toString(16).padStart(digits, "0")).reverse().join(""));
  const m = packed(a), n = a.length + b.length - 1;
  const raw = (m * (a === b ? m : packed(b))).toString(16).padStart(digits * n, "0");
  const cell = (k) => BigInt("0x" + raw.slice(raw.length - digits * (k + 1), raw.length - digits * k));
  let r = Array.from({ length: n }, (_, k) => cell(k)), infinite = s * (total(b) + t) + total(a) * t;
  const under = Math.max(low - i - j, 0), over = Math.max(i + j + n - 1 - high, 0);
  prove(under + over < n, "the window is empty");
  if (upper) { infinite += total(r.slice(n - over)); r[under] = total(r.slice(0, under + 1)); }
  else r[n - over - 1] = total(r.slice(n - over - 1));
  r = r.slice(under, n - over).map((v) => (upper ? up(v, size) : v >> size));
  return [i + j + under, r, upper ? up(infinite, size) : infinite >> size];
}

function grid(releases, rule, epsilon, upper, order) {
  const { step, window, nodes } = rule, size = BigInt(rule.mass_bits);
  const shift = new Q(upper ? 0n : 1n, 1n << 100n);
  epsilon = epsilon.plus(shift.times(sumOf(releases.map((r) => q(r.times)))));
  prove(nodes.reduce((s, [a, b]) => s + b - a + 1, 0) <= NODES && window[1] - window[0] < WINDOW,
    "the grid has too many nodes");
  let result = null;
  releases.forEach((r, index) => {
    const [first, last] = order ? [-nodes[index][1], -nodes[index][0]] : nodes[index];
    const x = Array.from({ length: last - first + 1 }, (_, k) => real(step.times(q(first + k)).minus(shift)).exp());
    let power = [first, ...(upper ? above : below)(laws(r)[order], x, size)];
    for (let times = r.times; times; times = Math.floor(times / 2)) {
      if (times % 2) result = result ? compose(result, power, window, size, upper) : power;
      if (times > 1) power = compose(power, power, window, size, upper);
    }
  });
  let sum = new Real(result[2] << (P - size));
  result[1].forEach((mass, k) => {
    const loss = step.times(q(result[0] + k));
    if (mass && loss.compare(epsilon) > 0) {
      sum = sum.plus(new Real(mass << (P - size)).times(UNIT.minus(real(epsilon.minus(loss)).exp())));
    }
  });
  return sum;
}

// Rules ---------------------------------------------------------------------------------------------

function pure(r) {
  prove(r.epsilon || r.scale, `a ${r.mechanism} has no epsilon`);
  return [r.epsilon || r.sensitivity.over(r.scale), r.delta || q(0)];
}

function rho(r) {
  if (r.mechanism === "gaussian" || r.mechanism === "discrete-gaussian") {
    const high = r.sensitivity.times(r.sensitivity).over(q(2).times(r.sigma2 || r.sigma.times(r.sigma)));
    return [r.sigma && (!r.rate || r.rate.compare(q(1)) === 0) ? high : q(0), high];
  }
  if (r.rho) return [q(0), r.rho];
  const [epsilon, failure] = pure(r);
  prove(failure.n === 0n, "with a delta there is no rho");
  return [q(0), epsilon.times(epsilon).over(q(2))];
}

function divergence(r, a) {
  const [low, high] = rho(r), rate = r.rate || q(1);
  if (rate.compare(q(1)) === 0 || !r.sigma || a.d > 1n || a.n > ORDER) return [a.times(low), a.times(high)];
  let sum = NOTHING, choose = 1n;
  const { n, d } = rate;
  for (let k = 0n; k <= a.n; k++) {
    const weight = new Q(choose * n ** k * (d - n) ** (a.n - k), d ** a.n);
    sum = sum.plus(real(weight).times(real(high.times(new Q(k * k - k))).exp()));
    choose = (choose * (a.n - k)) / (k + 1n);
  }
  const log = sum.log(), scale = ONE * (a.n - 1n);
  return [new Q(log.lo, scale), new Q(log.hi, scale)];
}

function overlaps(r, starts, x, upper) {
  const k = BigInt(r.k), root = whole(k).sqrt(), scale = real(q(1).over(r.sigma));
  const passes = real(r.tau.over(r.sigma)).over(UNIT.plus(UNIT.over(root)).sqrt()).tail();
  if (!upper) {
    const a = k > 1n ? (k + isqrt(k) + 1n) / 2n : 1n;
    const square = whole(a).minus(whole(a * a).over(whole(k).plus(root)));
    const [p, o] = gaussian(square.sqrt().times(scale))(x);
    return most(p.minus(x.times(o)).lo, passes.lo);
  }
  const parts = [...starts, r.k + 1];
  prove(parts[0] === 0 && parts.every((a, i) => !i || parts[i - 1] < a), "starts are no parts of 0..k");
  const rate = UNIT.minus(passes).log();
  let worst = 0n;
  for (let i = 0; i + 1 < parts.length; i++) {
    const j = whole(parts[i + 1] - 1), half = j.plus(root).times(real(q(1, 4)));
    const noise = parts[i + 1] > 1 ? gaussian((j.hi < half.hi ? j : half).sqrt().times(scale))(x)[2] : 0n;
    worst = most(worst, noise + ONE - whole(r.k - parts[i]).times(rate).exp().lo);
  }
  return worst;
}

function delta(releases, rule, epsilon, upper) {
  const one = releases[0], x = real(epsilon).exp(), name = rule.rule;
  const promised = releases.some((r) => ["approximate", "zcdp"].includes(r.mechanism));
  prove(upper || !promised, "what is promised of a mechanism has no lower side");
  prove(upper || !["basic", "renyi"].includes(name), `the rule ${name} proves at_most alone`);
  if (name === "basic") {
    const parts = releases.map((r) => pure(r).map((v) => v.times(q(r.times))));
    prove(sumOf(parts.map((v) => v[0])).compare(epsilon) <= 0, "the epsilons add up to more");
    return sumOf(parts.map((v) => v[1]));
  }
  if (name === "renyi") {
    const a = rule.order, s = a.minus(q(1));
    const spent = sumOf(releases.map((r) => divergence(r, a)[1].times(q(r.times))));
    const log = real(s.times(spent.minus(epsilon))).plus(real(s).times(real(s.over(a)).log()));
    return new Q(log.minus(real(a).log()).exp().hi, ONE);
  }
  if (name === "grid") {
    const ends = [0, 1].map((order) => grid(releases, rule, epsilon, upper, order));
    return new Q(ends.map((v) => (upper ? v.hi : v.lo)).reduce(most), ONE);
  }
  const alone = releases.length === 1 && one.times === 1;
  if (name === "overlaps") {
    prove(alone && one.mechanism === "correlated-sparse-histogram", "this rule is for a correlated histogram");
    return new Q(overlaps(one, rule.starts, x, upper), ONE);
  }
  prove(name === "curve", `the rule ${name} is not for delta`);
  let curves;
  if (releases.every((r) => r.mechanism === "gaussian" && (!r.rate || r.rate.compare(q(1)) === 0))) {
    const square = sumOf(releases.map((r) => q(2 * r.times).times(rho(r)[1])));
    curves = [gaussian(real(square).sqrt())];
  } else {
    prove(alone, "the rule curve is for one release");
    curves = laws(one);
    if (one.mechanism === "gaussian-sparse-histogram") curves.push(() => [shown(one), NOTHING, 0n]);
  }
  const ends = curves.map((law) => law(x)).map(([a, b, top]) => (upper ? top : a.minus(x.times(b)).lo));
  return new Q(ends.reduce(most), ONE);
}

function quantity(claim, releases, upper, claimed) {
  const rule = claim.derivation;
  if (claim.measure === "type-two") {
    prove(!upper, "the second error is proved at_least");
    const x = new Q(real(claim.epsilon).exp().hi, ONE), a = claim.type_one;
    const left = q(1).minus(delta(releases, rule, claim.epsilon, true));
    const lines = [left.minus(x.times(a)), left.minus(a).over(x)];
    return [lines[0].compare(lines[1]) > 0 ? lines[0] : lines[1], claimed];
  }
  prove(rule.rule === "sum", "this quantity needs the rule sum");
  prove(claim.measure !== "mu" || releases.every((r) => r.mechanism === "gaussian"), "no mu is known");
  const parts = releases.map((r) => (claim.measure === "renyi" ? divergence(r, claim.order) : rho(r)));
  const sum = sumOf(parts.map((part, i) => part[upper ? 1 : 0].times(q(releases[i].times))));
  return claim.measure === "mu" ? [sum.plus(sum), claimed.times(claimed)] : [sum, claimed];
}

const atMostOne = (f) => (f.compare(q(1)) > 0 ? q(1) : f);

// Statements ----------------------------------------------------------------------------------------

const FIELDS = {
  statement: "format unit releases claims premises not_shown made_by about?",
  unit: "neighbours of bounds", bounds: "what at_most checked", releases: "mechanism times",
  claims: "measure derivation at_most? at_least?", derivation: "rule", made_by: "name version",
};
const VARIANTS = {
  mechanism: {
    gaussian: "sigma sensitivity rate?", "discrete-gaussian": "sigma2 sensitivity rate?",
    laplace: "scale sensitivity rate?", "discrete-laplace": "scale sensitivity rate?",
    "randomized-response": "epsilon rate?", "finite-law": "outcomes", zcdp: "rho",
    approximate: "epsilon delta", "gaussian-sparse-histogram": "k sigma tau",
    "correlated-sparse-histogram": "k sigma tau",
  },
  measure: { delta: "epsilon", "type-two": "epsilon type_one", rho: "", mu: "", renyi: "order" },
  rule: { curve: "", basic: "", sum: "", renyi: "order", overlaps: "starts", grid: "step mass_bits nodes window" },
};
const DEPTHS = { bounds: 1, releases: 1, claims: 1, premises: 1, not_shown: 1, starts: 1, window: 1, outcomes: 2, nodes: 2, about: 2 };
const words = (v) => typeof v === "string" && v.length > 0 && [...v].length <= 2000;
const between = (low, high) => (v) => typeof v === "number" && low <= v && v <= high;
const number = (allowed) => (v) => v instanceof Q && allowed(v);
const LEAVES = {};
for (const [names, allowed] of [
  ["format", (v) => v === "dp-statement/1"], ["checked", (v) => typeof v === "boolean"],
  ["neighbours", (v) => ["add-remove", "replace-one", "zero-out", "pair"].includes(v)],
  ["of what name version premises not_shown about", words],
  ["sigma sensitivity scale sigma2 step", number((v) => v.n > 0n)],
  ["rate", number((v) => v.n > 0n && v.n <= v.d)], ["order", number((v) => v.n > v.d)],
  ["delta type_one outcomes", number((v) => v.n <= v.d)], ["epsilon rho tau at_most at_least", number(() => true)],
  ["mass_bits", between(16, 160)], ["k times", between(1, 1e9)], ["nodes window starts", between(-1e9, 1e9)],
]) for (const name of names.split(" ")) LEAVES[name] = allowed;
const NUMBERS = new Set("sigma sensitivity scale sigma2 step rate order delta type_one outcomes epsilon rho tau at_most at_least".split(" "));
const has = (object, key) => Object.prototype.hasOwnProperty.call(object, key);

function read(name, value, depth = 0) {
  if (depth < (DEPTHS[name] || 0)) {
    demand(Array.isArray(value), `${name} is not a list`);
    return value.map((item) => read(name, item, depth + 1));
  }
  if (has(FIELDS, name)) {
    demand(value instanceof Map, `${name} is not an object`);
    const names = FIELDS[name].split(" ");
    for (const [tag, variants] of Object.entries(VARIANTS)) {
      if (!names.includes(tag)) continue;
      const variant = value.get(tag);
      demand(typeof variant === "string" && has(variants, variant), `the ${tag} is unknown`);
      names.push(...variants[variant].split(" ").filter(Boolean));
    }
    const known = new Set(names.map((n) => n.replace("?", "")));
    demand(names.every((n) => n.endsWith("?") || value.has(n)) && [...value.keys()].every((n) => known.has(n)),
      `${name} is not an object with the fields ${names.join(" ")}`);
    return Object.fromEntries([...value].map(([n, v]) => [n, has(VARIANTS, n) ? v : read(n, v)]));
  }
  if (NUMBERS.has(name) && typeof value === "string" && value.length <= 60 && NUMBER.test(value)) value = fraction(value);
  demand(LEAVES[name](value), `${name} has a value that is not allowed`);
  return value;
}

function parse(text) { // JSON without floats, long numbers and fields that are there twice
  let at = 0;
  const wrong = () => demand(false, "this is not JSON, or a number is not a short whole one");
  const skip = () => { while (at < text.length && " \t\n\r".includes(text[at])) at++; };
  const take = (c) => { skip(); if (text[at] !== c) wrong(); at++; };
  const peek = () => { skip(); return text[at]; };
  const match = (pattern) => { pattern.lastIndex = at; const found = pattern.exec(text); if (!found) wrong(); at = pattern.lastIndex; return found[0]; };
  function string() {
    skip();
    const s = JSON.parse(match(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y));
    if (!s.isWellFormed()) wrong();
    return s;
  }
  function items(close, one) {
    at++;
    if (peek() === close) { at++; return; }
    for (;;) { one(); if (peek() === close) { at++; return; } take(","); }
  }
  function value(depth) {
    if (depth > 100) wrong();
    const c = peek();
    if (c === "{") {
      const map = new Map();
      items("}", () => { const key = string(); take(":"); demand(!map.has(key), "a field is there twice"); map.set(key, value(depth + 1)); });
      return map;
    }
    if (c === "[") { const list = []; items("]", () => list.push(value(depth + 1))); return list; }
    if (c === '"') return string();
    const word = match(/true|false|null|-?(?:0|[1-9][0-9]*)(?![.eE0-9])/y);
    if (word === "true" || word === "false") return word === "true";
    if (word === "null") return null;
    demand(word.length < 12 && word !== "-0", "a number is not a short whole one");
    return Number(word);
  }
  const result = value(0);
  skip();
  if (at < text.length) wrong();
  return result;
}

function canonical(v) {
  if (v instanceof Map) return `{${[...v.keys()].sort().map((k) => `${JSON.stringify(k)}:${canonical(v.get(k))}`).join(",")}}`;
  return Array.isArray(v) ? `[${v.map(canonical).join(",")}]` : JSON.stringify(v);
}

function agree({ releases, claims, unit }) {
  demand(releases.length > 0 && releases.length <= 500 && claims.length > 0, "releases are 1 to 500, and claims at least 1");
  for (const r of releases) {
    if (r.outcomes) {
      demand(r.outcomes.length > 0 && r.outcomes.every((pair) => pair.length === 2), "outcomes are pairs");
      for (const i of [0, 1]) {
        const d = r.outcomes.reduce((m, pair) => (m / gcd(m, pair[i].d)) * pair[i].d, 1n);
        demand(total(r.outcomes.map((pair) => pair[i].n * (d / pair[i].d))) === d, "the probabilities of outcomes do not add up to 1");
      }
    }
    demand(unit.neighbours === "add-remove" || !(r.rate || r.k), "sampling and sparse histograms are for add-remove neighbours");
  }
  for (const claim of claims) {
    demand(claim.at_most || claim.at_least, "a claim is at_most, at_least or both");
    const { rule, nodes, window } = claim.derivation;
    if (rule !== "grid") continue;
    demand(nodes.length === releases.length && [window, ...nodes].every((p) => p.length === 2 && p[0] <= p[1]), "nodes or window are no pairs in order");
  }
}

export function check(text) {
  end = Date.now() + SECONDS * 1000;
  let sha256 = "none";
  try {
    demand(text.length <= BYTES && new TextEncoder().encode(text).length <= BYTES, `more than ${BYTES} bytes`);
    const raw = parse(text);
    sha256 = hash(new TextEncoder().encode(canonical(raw)));
    const s = read("statement", raw);
    agree(s);
    s.claims.forEach((claim, i) => {
      for (const side of ["at_least", "at_most"].filter((name) => claim[name])) {
        const upper = side === "at_most";
        const [found, claimed] = claim.measure === "delta"
          ? [atMostOne(delta(s.releases, claim.derivation, claim.epsilon, upper)), claim[side]]
          : quantity(claim, s.releases, upper, claim[side]);
        prove(upper ? found.compare(claimed) <= 0 : found.compare(claimed) >= 0, `claim ${i + 1}, ${side}, fails`);
      }
    });
    return { verdict: "valid", reason: `claims proved: ${s.claims.length}`, sha256 };
  } catch (stop) {
    if (!(stop instanceof Stop)) throw stop;
    return { verdict: stop.verdict, reason: stop.message, sha256 };
  }
}

function hash(bytes) { // SHA-256 (FIPS 180-4)
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
  const root = (n, power) => { // the first 32 bits of the part after the point of n^(1/power)
    const big = BigInt(n) << BigInt(32 * power);
    let low = 0n, high = 1n << 40n;
    while (high - low > 1n) { const mid = (low + high) >> 1n; if (mid ** BigInt(power) <= big) low = mid; else high = mid; }
    return Number(low & 0xffffffffn);
  };
  const k = primes.map((p) => root(p, 3)), h = primes.slice(0, 8).map((p) => root(p, 2));
  const padded = new Uint8Array((((bytes.length + 8) >> 6) + 1) << 6), view = new DataView(padded.buffer);
  padded.set(bytes); padded[bytes.length] = 128;
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29)); view.setUint32(padded.length - 4, bytes.length << 3);
  const turn = (v, n) => (v >>> n) | (v << (32 - n));
  for (let at = 0; at < padded.length; at += 64) {
    const w = Array.from({ length: 64 }, (_, i) => (i < 16 ? view.getUint32(at + 4 * i) : 0));
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15], b = w[i - 2];
      w[i] = (w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10))) | 0;
    }
    let [a, b, c, d, e, f, g, z] = h;
    for (let i = 0; i < 64; i++) {
      const t = (z + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i]) | 0;
      const u = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [a, b, c, d, e, f, g, z] = [(t + u) | 0, a, b, c, (d + t) | 0, e, f, g];
    }
    [a, b, c, d, e, f, g, z].forEach((v, i) => { h[i] = (h[i] + v) | 0; });
  }
  return h.map((v) => (v >>> 0).toString(16).padStart(8, "0")).join("");
}

// The command line, in Node -------------------------------------------------------------------------

if (typeof process !== "undefined" && process.argv[1]) {
  const { pathToFileURL } = await import("node:url");
  if (import.meta.url === pathToFileURL(process.argv[1]).href) {
    const { readFileSync } = await import("node:fs");
    let text = "\ufffe"; // bytes that are not UTF-8 are not JSON
    try { text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(process.argv[2])); } catch (error) { if (!(error instanceof TypeError)) throw error; }
    const { verdict, reason, sha256 } = check(text);
    console.log(`${verdict}: ${reason} (sha256 ${sha256})`);
    process.exitCode = ["valid", "not proved", "malformed"].indexOf(verdict);
  }
}

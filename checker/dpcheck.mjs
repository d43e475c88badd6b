// Checks a privacy statement (format dp-statement/1), in browsers and Node: the same rules as
// dpcheck.py, from SPECIFICATION.md, with BigInt alone.   node dpcheck.mjs statement.json
// check(text) returns {verdict: "valid" | "not proved" | "malformed", reason, sha256}.

const P = 256n, ONE = 1n << P, SPARE = 1n << (P - 80n);
const BYTES = 1 << 20, WORK = 1_600_000; // of a statement: its size and its work
const NODES = 1 << 13, WINDOW = 1 << 14, FARTHEST = 1 << 12; // of a grid
const PARTS = 1 << 16, LISTED = 1 << 13; // outcomes of a law, and of a sum of noise that is listed
const ORDER = 512, SUM_BITS = 1 << 14; // of a divergence, an exact sum

class Stop extends Error {
  constructor(verdict, reason) { super(reason); this.verdict = verdict; }
}

function prove(fact, reason, verdict = "not proved") {
  if (!fact) throw new Stop(verdict, reason);
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

function sumOf(numbers, verdict = "not proved") { // exactly
  let d = 1n, n = 0n;
  for (const x of numbers) {
    const both = d % x.d === 0n ? d : (d / gcd(d, x.d)) * x.d;
    n = n * (both / d) + x.n * (both / x.d);
    d = both;
    prove(bits(d) <= SUM_BITS, "the common denominator of a sum is too long", verdict);
  }
  return new Q(n, d);
}

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
    if (this.hi < -180n * ONE) return new Real(0n, 1n);
    const n = abs(this.lo), width = this.hi - this.lo;
    prove(width <= ONE && n <= ONE << 12n, "the argument of e^x is too large");
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
const log = (f) => whole(f.n).log().minus(whole(f.d).log());
const UNIT = whole(1), NOTHING = whole(0), TWO = whole(2), HALF = real(q(1, 2));
const LN2 = TWO.times(atanh(real(q(1, 3))));
const DIGITS = 314159265358979323846264338327950288419716939937510582097494459230781640628620899n;
const PI = new Real(real(new Q(DIGITS, 10n ** 80n)).lo, real(new Q(DIGITS + 1n, 10n ** 80n)).hi);
const ROOT_2PI = new Real(2n * PI.lo, 2n * PI.hi).sqrt();

// Curves: a law maps x to [P(S), Q(S), top], with top / 2^P >= G(x) --------------------------------

const gaussian = (mu) => (x) => {
  const t = x.log().times(UNIT.over(mu)), half = mu.times(HALF);
  const a = t.minus(half).tail(), b = t.plus(half).tail();
  return [a, b, a.minus(x.times(b)).hi];
};

const laplace = (high) => (x) => { // high: e^mu
  const low = UNIT.over(high);
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
  const disclosed = real(delta), no = real(q(1).minus(delta)).over(real(epsilon).exp().plus(UNIT));
  const yes = UNIT.minus(disclosed).minus(no);
  return outcomes([[disclosed, NOTHING], [yes, no], [no, yes], [NOTHING, disclosed]]);
}

const ofIntegers = (r) => ["discrete-gaussian", "discrete-laplace"].includes(r.mechanism);
const noiseRate = (r) => (r.sigma2 ? q(1, 2).over(r.sigma2) : q(1).over(r.scale));
const noisePower = (r) => (r.sigma2 ? 2n : 1n);

function reach(power, rate) { // the first c with rate c^power > 180
  const c = (180n * rate.d) / rate.n;
  return 1n + (power === 2n ? isqrt(c) : c);
}

function weights(power, rate) { // of 0..c, of what is beyond, of all
  const c = reach(power, rate), g = [];
  for (let z = 0n; z <= c; z++) g.push(real(rate.times(new Q(-(z ** power)))).exp());
  const r = real(rate.times(new Q((c - 1n) ** power - c ** power))).exp();
  const rest = new Real(0n, TWO.times(g.at(-1)).times(r).over(UNIT.minus(r)).hi);
  return [g, rest, g.slice(1).reduce((s, v) => s.plus(v).plus(v), rest.plus(g[0]))];
}

function lattice(power, rate, shift) {
  const c = reach(power, rate), cells = [];
  prove(2n * c + shift <= PARTS, `a law has more than ${PARTS} outcomes`);
  const [g, rest, n] = weights(power, rate), far = new Real(0n, g.at(-1).hi);
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

const larger = (law) => (x) => { // of both orders, for at_most
  const [a, b, top] = law(x);
  return [a, b, most(top, backward(law)(x)[2])];
};

const seenAlone = (r) => // the probability that one of k keys that only one user has exceeds 1 + tau
  UNIT.minus(whole(r.k).times(UNIT.minus(real(r.tau.over(r.sigma)).tail()).log()).exp());

function histogram(r) {
  const noise = gaussian(real(q(r.k).over(r.sigma.times(r.sigma))).sqrt()), seen = seenAlone(r);
  return (x) => {
    const [a, b, top] = noise(x);
    return [a, b, [seen.hi, UNIT.minus(x).plus(x.times(seen)).hi].reduce(most, top)];
  };
}

function withoutSampling(r) {
  const size = r.sensitivity;
  if (r.mechanism === "gaussian") return gaussian(real(size.over(r.sigma)));
  if (r.mechanism === "laplace") return laplace(real(size.over(r.scale)).exp());
  if (r.mechanism === "finite-law") return outcomes(r.outcomes.map((pair) => pair.map(real)));
  if (["randomized-response", "approximate"].includes(r.mechanism)) return response(...pure(r));
  if (r.mechanism === "gaussian-sparse-histogram") return histogram(r);
  prove(ofIntegers(r), `there is no curve of a ${r.mechanism}`);
  return lattice(noisePower(r), noiseRate(r), size.n);
}

function lawOf(r) {
  const law = withoutSampling(r);
  return r.rate && r.rate.compare(q(1)) < 0 ? sampled(law, r.rate) : law;
}

// order: 0, p against q; 1, q against p; null, the larger curve of both
const inOrder = (law, order) => (order === null ? larger(law) : order ? backward(law) : law);

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
  prove(most(total(a) + s, total(b) + t) <= 2n << size, "the masses add up to more than 2");
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
  epsilon = epsilon.plus(shift.times(q(runs(releases))));
  let result = null;
  releases.forEach((r, index) => {
    const [first, last] = order ? [-nodes[index][1], -nodes[index][0]] : nodes[index];
    const x = Array.from({ length: last - first + 1 }, (_, k) => real(step.times(q(first + k)).minus(shift)).exp());
    let power = [first, ...(upper ? above : below)(inOrder(lawOf(r), order), x, size)];
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

const runs = (releases) => releases.reduce((s, r) => s + r.times, 0);
const failure = (r) => r.delta || q(0);
const failures = (releases) => sumOf(releases.map((r) => failure(r).times(q(r.times))));
const trusted = (releases) => // a guarantee is stated, and not the mechanism
  releases.flatMap((r, i) => (["approximate", "zcdp"].includes(r.mechanism) ? [i + 1] : []));

function pure(r) {
  prove(r.epsilon || r.scale, `a ${r.mechanism} has no epsilon`);
  return [r.epsilon || r.sensitivity.over(r.scale), failure(r)];
}

function rho(r) { // [least, most], beside the delta
  if (r.mechanism === "gaussian" || r.mechanism === "discrete-gaussian") {
    const high = r.sensitivity.times(r.sensitivity).over(q(2).times(r.sigma2 || r.sigma.times(r.sigma)));
    return [r.sigma && (!r.rate || r.rate.compare(q(1)) === 0) ? high : q(0), high];
  }
  if (r.rho) return [q(0), r.rho];
  const [epsilon] = pure(r);
  return [q(0), epsilon.times(epsilon).over(q(2))];
}

const smaller = (a, b) => (a.compare(b) < 0 ? a : b);

function divergence(r, a) { // [least, most], beside the delta
  const [low, high] = rho(r), rate = r.rate || q(1), one = q(1);
  const ends = [a.times(low), a.times(high)], s = a.minus(one);
  if (r.mechanism !== "gaussian") return [ends[0], r.rho || r.sigma2 ? ends[1] : smaller(ends[1], pure(r)[0])];
  if (rate.compare(one) === 0 || a.compare(q(ORDER)) > 0) return ends;
  const n = Number(a.n / a.d), near = n > 1 ? moment(rate, high, n) : NOTHING;
  if (a.d === 1n) return [new Q(near.lo, ONE).over(s), new Q(near.hi, ONE).over(s)];
  const next = moment(rate, high, n + 1);
  const chord = q(n + 1).minus(a).times(new Q(near.hi)).plus(a.minus(q(n)).times(new Q(next.hi)));
  return [q(0), smaller(ends[1], chord.over(new Q(ONE)).over(s))];
}

function moment(rate, high, order) { // of whole order, of Gaussian noise that is sampled
  const inside = log(rate), outside = log(q(1).minus(rate)), a = BigInt(order);
  const powers = [];
  let choose = 1n;
  for (let k = 0n; k <= a; k++) {
    const power = whole(choose).log().plus(whole(k).times(inside)).plus(whole(a - k).times(outside));
    powers.push(power.plus(real(high.times(new Q(k * k - k)))));
    choose = (choose * (a - k)) / (k + 1n);
  }
  const top = new Real(powers.map((power) => power.hi).reduce(most));
  return powers.reduce((s, power) => s.plus(power.minus(top).exp()), NOTHING).log().plus(top);
}

function overlaps(r, starts, x, upper) {
  const k = BigInt(r.sparsity), root = whole(k).sqrt(), scale = real(q(1).over(r.sigma));
  const passes = real(r.tau.over(r.sigma)).over(UNIT.plus(UNIT.over(root)).sqrt()).tail();
  if (!upper) {
    const a = k > 1n ? (k + isqrt(k) + 1n) / 2n : 1n;
    const square = whole(a).minus(whole(a * a).over(whole(k).plus(root)));
    const [p, o] = gaussian(square.sqrt().times(scale))(x);
    return most(p.minus(x.times(o)).lo, passes.lo);
  }
  const rate = UNIT.minus(passes).log();
  return partsOf(starts, r.sparsity).map(([first, last]) => {
    const j = whole(last), half = j.plus(root).times(real(q(1, 4)));
    const noise = last ? gaussian((j.hi < half.hi ? j : half).sqrt().times(scale))(x)[2] : 0n;
    return noise + ONE - whole(r.sparsity - first).times(rate).exp().lo;
  }).reduce(most, 0n);
}

function partsOf(starts, k) { // [first, last] of parts of 0..k
  const ends = [...starts, k + 1];
  prove(ends[0] === 0 && ends.every((a, i) => !i || ends[i - 1] < a), "starts are no parts of 0..k");
  return starts.map((first, i) => [first, ends[i + 1] - 1]);
}

function counts(r, starts, epsilon) { // sparse histograms of integer counts, with noise e^-(c z^2)
  const c = noiseRate(r), cases = partsOf(starts, r.k);
  prove(epsilon.n > 0n && c.compare(q(1, 2)) <= 0, "epsilon is 0, or sigma2 less than 1");
  const hidden = UNIT.minus(exceeds(c, floor(r.tau.n, r.tau.d))).log();
  return cases
    .map(([first, last]) => shared(c, BigInt(last), epsilon) + ONE - whole(r.k - first).times(hidden).exp().lo)
    .reduce(most);
}

function exceeds(c, tau) { // above the probability that noise exceeds tau
  if (sumSize(c, 1n) <= LISTED && tau < reach(2n, c)) {
    const [g, rest, n] = weights(2n, c);
    return g.slice(Number(tau) + 1).reduce((s, v) => s.plus(v), rest).over(n);
  }
  return real(c.over(q(4))).exp().times(real(new Q(2n * tau + 1n, 2n)).times(real(q(2).times(c)).sqrt()).tail());
}

function shared(c, last, epsilon) { // above the curve of so many counts together, each moved by one
  if (!last) return 0n;
  const x = real(epsilon).exp(), j = new Q(last), each = c.over(j), square = c.times(c), fourth = square.times(square);
  if (sumSize(c, last) <= LISTED) return up(real(q(34).times(fourth).times(j)).exp().hi * lattice(2n, each, last)(x)[2], P);
  const y = epsilon.over(q(2)).plus(c).over(j).plus(c.over(q(2))), far = epsilon.minus(c.times(j));
  const v = far.times(far).over(q(4).times(c).times(j));
  const waste = real(y.minus(v)).exp().times(real(y.over(q(4))).plus(real(c.over(epsilon)))).times(real(each).over(PI).sqrt());
  const top = gaussian(real(q(2).times(c).times(j)).sqrt())(x)[2] + waste.hi;
  return up(real(q(32).times(fourth).times(j).plus(each.over(q(4)))).exp().hi * top, P);
}

const sumSize = (c, j) => 2n * reach(2n, c.over(new Q(j))) + j;

function delta(releases, rule, epsilon, upper, named) {
  const one = releases[0], name = rule.rule, alone = releases.length === 1 && one.times === 1;
  const orders = named || !upper ? [0, 1] : [null];
  prove(upper || !trusted(releases).length, "what is promised of a mechanism has no lower side");
  prove(upper || !["basic", "renyi"].includes(name), `the rule ${name} proves at_most alone`);
  if (name === "basic") {
    const spent = sumOf(releases.map((r) => pure(r)[0].times(q(r.times))));
    prove(spent.compare(epsilon) <= 0, "the epsilons add up to more");
    return failures(releases);
  }
  if (name === "renyi") return failures(releases).plus(byDivergence(releases, rule.order, epsilon));
  if (name === "grid") {
    const ends = orders.map((order) => grid(releases, rule, epsilon, upper, order));
    return new Q(ends.map((v) => (upper ? v.hi : v.lo)).reduce(most), ONE);
  }
  const x = real(epsilon).exp();
  if (name === "overlaps") {
    prove(alone, "the rule overlaps is for one histogram");
    if (one.mechanism === "discrete-sparse-histogram") {
      prove(upper, "a histogram with integer noise has no lower side");
      return new Q(counts(one, rule.starts, epsilon), ONE);
    }
    prove(one.sparsity, "the rule overlaps is not for this mechanism");
    return new Q(overlaps(one, rule.starts, x, upper), ONE);
  }
  prove(name === "curve", `the rule ${name} is not for delta`);
  let curves;
  if (releases.every((r) => r.mechanism === "gaussian" && (!r.rate || r.rate.compare(q(1)) === 0))) {
    const square = sumOf(releases.map((r) => q(2 * r.times).times(rho(r)[1])));
    curves = [gaussian(real(square).sqrt())];
  } else if (alone && one.k) { // its curve is that of both orders
    curves = [lawOf(one), () => [seenAlone(one), NOTHING, 0n]];
  } else {
    prove(alone, "the rule curve is for one release");
    const law = lawOf(one);
    curves = orders.map((order) => inOrder(law, order));
  }
  const ends = curves.map((law) => law(x)).map(([a, b, top]) => (upper ? top : a.minus(x.times(b)).lo));
  return new Q(ends.reduce(most), ONE);
}

function byDivergence(releases, a, epsilon) {
  const s = a.minus(q(1)), spent = sumOf(releases.map((r) => divergence(r, a)[1].times(q(r.times))));
  const power = real(s.times(spent.minus(epsilon))).plus(real(s).times(real(s.over(a)).log()));
  return new Q(power.minus(real(a).log()).exp().hi, ONE);
}

function quantity(claim, releases, upper, named) {
  const rule = claim.derivation, { measure } = claim;
  if (measure === "type-two") {
    prove(!upper, "the second error is proved at_least");
    const x = new Q(real(claim.epsilon).exp().hi, ONE), a = claim.type_one;
    const left = q(1).minus(delta(releases, rule, claim.epsilon, true, named));
    const lines = [left.minus(x.times(a)), left.minus(a).over(x)];
    return lines[0].compare(lines[1]) > 0 ? lines[0] : lines[1];
  }
  prove(rule.rule === "sum", "this quantity needs the rule sum");
  prove(measure !== "mu" || releases.every((r) => r.mechanism === "gaussian"), "no mu is known");
  const beside = claim.delta || q(0);
  prove(failures(releases).compare(beside) <= 0, "the deltas of the releases add up to more");
  prove(upper || beside.n === 0n, "beside a delta there is no lower side");
  const parts = releases.map((r) => (measure === "renyi" ? divergence(r, claim.order) : rho(r)));
  const bound = sumOf(parts.map((part, i) => part[upper ? 1 : 0].times(q(releases[i].times))));
  return measure === "mu" ? bound.plus(bound) : bound;
}

// Work: one unit for an outcome of a law, 64 for a point of a curve ---------------------------------

const length = ([a, b]) => b - a + 1;
const sides = (claim) => ["at_least", "at_most"].filter((name) => claim[name]);

function work(claim, releases) {
  const rule = claim.derivation, order = rule.order || claim.order;
  let units = 128 + 24 * releases.length;
  if (rule.starts) units += partsWork(releases[0], rule.starts);
  if (order && order.compare(q(ORDER)) <= 0) {
    units += 16 * (Number(order.n / order.d) + 1) * releases.filter((r) => r.mechanism === "gaussian").length;
  }
  if (rule.rule === "curve" || rule.rule === "grid") {
    const outcomes = releases.reduce((s, r) => s + outcomesOf(r), 0);
    units += rule.rule === "curve" ? outcomes : 2 * outcomes;
  }
  if (rule.rule === "grid") {
    const widest = Math.max(length(rule.window), ...rule.nodes.map(length));
    const digits = widest * (Math.floor(rule.mass_bits / 4) + 4);
    const product = 64 + Math.floor((digits * Number(isqrt(BigInt(digits)))) / 8000);
    const ones = (n) => n.toString(2).replaceAll("0", "").length;
    const products = releases.reduce((s, r) => s + r.times.toString(2).length + ones(r.times), 0);
    const points = rule.nodes.reduce((s, pair) => s + length(pair), 0);
    units += 2 * (64 * points + 4 * (length(rule.window) - 1) + products * product);
  }
  return units * sides(claim).length;
}

function partsWork(r, starts) {
  let sizes = [];
  if (r.mechanism === "discrete-sparse-histogram") {
    const lasts = starts.filter((first) => first > 1 && first <= r.k).map((first) => first - 1);
    sizes = [1, r.k, ...lasts].map((j) => Number(sumSize(noiseRate(r), BigInt(j))));
  }
  return 64 * starts.length + 2 * sizes.filter((size) => size <= LISTED).reduce((s, size) => s + size, 0);
}

function outcomesOf(r) { // that a law lists, twice if computed; 0 for a law that is refused at once
  if (!ofIntegers(r)) return r.outcomes ? r.outcomes.length : 0;
  const size = 2n * reach(noisePower(r), noiseRate(r)) + r.sensitivity.n;
  return size <= PARTS ? 2 * Number(size) : 0;
}

// Statements ----------------------------------------------------------------------------------------

const FIELDS = {
  statement: "format unit releases claims premises not_shown made_by about?",
  unit: "neighbours of bounds one_pair?", bounds: "what at_most checked", releases: "mechanism times",
  claims: "measure derivation at_most? at_least?", derivation: "rule", made_by: "name version",
};
const VARIANTS = {
  mechanism: {
    gaussian: "sigma sensitivity rate?", "discrete-gaussian": "sigma2 sensitivity rate?",
    laplace: "scale sensitivity rate?", "discrete-laplace": "scale sensitivity rate?",
    "randomized-response": "epsilon rate?", "finite-law": "outcomes", zcdp: "rho",
    approximate: "epsilon delta", "gaussian-sparse-histogram": "k sigma tau",
    "correlated-sparse-histogram": "sparsity sigma tau", "discrete-sparse-histogram": "k sigma2 tau",
  },
  measure: { delta: "epsilon", "type-two": "epsilon type_one", rho: "delta?", mu: "", renyi: "order" },
  rule: { curve: "", basic: "", sum: "", renyi: "order", overlaps: "starts", grid: "step mass_bits nodes window" },
};
const DEPTHS = { bounds: 1, releases: 1, claims: 1, premises: 1, not_shown: 1, starts: 1, window: 1, outcomes: 2, nodes: 2, about: 2 };
const words = (v) => typeof v === "string" && v.length > 0 && [...v].length <= 2000;
const between = (low, high) => (v) => typeof v === "number" && low <= v && v <= high;
const number = (allowed) => (v) => v instanceof Q && allowed(v);
const LEAVES = {};
for (const [names, allowed] of [
  ["format", (v) => v === "dp-statement/1"], ["checked one_pair", (v) => typeof v === "boolean"],
  ["neighbours", (v) => ["add-remove", "replace-one", "zero-out", "pair"].includes(v)],
  ["of what name version premises not_shown about", words],
  ["sigma sensitivity scale sigma2 step", number((v) => v.n > 0n)],
  ["rate", number((v) => v.n > 0n && v.n <= v.d)], ["order", number((v) => v.n > v.d)],
  ["delta type_one outcomes", number((v) => v.n <= v.d)], ["epsilon rho tau at_most at_least", number(() => true)],
  ["mass_bits", between(16, 160)], ["k sparsity times", between(1, 1e9)], ["nodes window starts", between(-1e9, 1e9)],
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
    const fields = FIELDS[name].split(" ");
    for (const [tag, variants] of Object.entries(VARIANTS)) {
      if (!fields.includes(tag)) continue;
      const variant = value.get(tag);
      demand(typeof variant === "string" && has(variants, variant), `the ${tag} is unknown`);
      fields.push(...variants[variant].split(" ").filter(Boolean));
    }
    for (const field of fields) demand(field.endsWith("?") || value.has(field), `${name}: the field ${field} is missing`);
    const known = fields.map((field) => field.replace("?", "")).sort();
    demand([...value.keys()].every((n) => known.includes(n)), `${name}: a field is none of ${known.join(" ")}`);
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
    let close = at + 1, s = "";
    while (close < text.length && text[close] !== '"') close += text[close] === "\\" ? 2 : 1;
    try { s = JSON.parse(text.slice(at, close + 1)); } catch { wrong(); }
    if (typeof s !== "string") wrong();
    at = close + 1;
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

function byCodePoints(a, b) { // as UTF-8 sorts, and not as UTF-16 does
  const [s, t] = [a, b].map((text) => [...text].map((c) => c.codePointAt(0)));
  const at = s.findIndex((c, i) => c !== t[i]);
  return at < 0 ? s.length - t.length : s[at] - (t[at] ?? -1);
}

function canonical(v) {
  if (Array.isArray(v)) return `[${v.map(canonical).join(",")}]`;
  if (!(v instanceof Map)) return JSON.stringify(v);
  return `{${[...v.keys()].sort(byCodePoints).map((k) => `${JSON.stringify(k)}:${canonical(v.get(k))}`).join(",")}}`;
}

function agree({ releases, claims, unit }) {
  demand(releases.length > 0 && releases.length <= 500 && claims.length > 0, "releases are 1 to 500, and claims at least 1");
  for (const r of releases) {
    if (r.outcomes) {
      demand(r.outcomes.length > 0 && r.outcomes.length <= PARTS, `outcomes are 1 to ${PARTS}`);
      demand(r.outcomes.every((pair) => pair.length === 2), "outcomes are pairs");
      for (const i of [0, 1]) {
        const sum = sumOf(r.outcomes.map((pair) => pair[i]), "malformed");
        demand(sum.compare(q(1)) === 0, "the probabilities of outcomes do not add up to 1");
      }
    }
    demand(!ofIntegers(r) || r.sensitivity.d === 1n, "sensitivity: that of integers is a whole number");
    demand(unit.neighbours === "add-remove" || !(r.rate || r.tau), "sampling and sparse histograms are for add-remove neighbours");
  }
  for (const claim of claims) {
    demand(claim.at_most || claim.at_least, "a claim is at_most, at_least or both");
    const { rule, nodes, window } = claim.derivation;
    if (rule !== "grid") continue;
    demand(nodes.length === releases.length && [window, ...nodes].every((p) => p.length === 2 && p[0] <= p[1]), "nodes or window are no pairs in order");
  }
}

function limit({ releases, claims }) { // before any work is done
  for (const { derivation: { rule, nodes, window, step } } of claims) {
    if (rule !== "grid") continue;
    const points = nodes.reduce((s, pair) => s + length(pair), 0);
    prove(points <= NODES && length(window) <= WINDOW, "the grid has too many nodes");
    const far = q(Math.max(...nodes.flat().map(Math.abs))).times(step);
    prove(far.compare(q(FARTHEST)) <= 0, `a node is at a loss beyond ${FARTHEST}`);
  }
  const units = claims.reduce((s, claim) => s + work(claim, releases), 0);
  prove(units <= WORK, `the claims need more than ${WORK} units of work`);
}

function proveClaim(claim, side, { releases, unit }) {
  const upper = side === "at_most", square = claim.measure === "mu";
  const named = ["add-remove", "zero-out"].includes(unit.neighbours);
  if (!upper && claim.measure !== "type-two") {
    prove(runs(releases) === 1 || unit.one_pair === true, "at_least of several runs needs one_pair: neighbours that attain all of them");
  }
  const bound = claim.measure === "delta"
    ? smaller(delta(releases, claim.derivation, claim.epsilon, upper, named), q(1))
    : quantity(claim, releases, upper, named);
  const order = bound.compare(square ? claim[side].times(claim[side]) : claim[side]);
  return upper ? order <= 0 : order >= 0;
}

function praise({ releases, claims }) { // what a valid statement shows, and what it takes on trust
  const text = claims.length === 1 ? "1 claim follows" : `${claims.length} claims follow`, taken = trusted(releases);
  if (!taken.length) return text;
  const names = taken.slice(0, 5).join(", ") + (taken.length > 5 ? ` and ${taken.length - 5} more` : "");
  return `${text}; taken on trust: ${taken.length === 1 ? `release ${names} (a stated guarantee)` : `releases ${names} (stated guarantees)`}`;
}

export function check(text) {
  let sha256 = "none";
  try {
    demand(text.length <= BYTES && new TextEncoder().encode(text).length <= BYTES, `more than ${BYTES} bytes`);
    const raw = parse(text);
    sha256 = hash(new TextEncoder().encode(canonical(raw)));
    const s = read("statement", raw);
    agree(s);
    limit(s);
    s.claims.forEach((claim, i) => {
      for (const side of sides(claim)) prove(proveClaim(claim, side, s), `claim ${i + 1}, ${side}, fails`);
    });
    return { verdict: "valid", reason: praise(s), sha256 };
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
    const { openSync, readSync } = await import("node:fs");
    const bytes = new Uint8Array(BYTES + 1), file = openSync(process.argv[2], "r");
    let size = 0;
    for (let more = 1; more && size < bytes.length; size += more) more = readSync(file, bytes, size, bytes.length - size);
    let text = size > BYTES ? " ".repeat(size) : "\ufffe"; // bytes that are not UTF-8 are not JSON
    try {
      if (size <= BYTES) text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, size));
    } catch (error) { if (!(error instanceof TypeError)) throw error; }
    const { verdict, reason, sha256 } = check(text);
    console.log(`${verdict}: ${reason} (sha256 ${sha256})`);
    process.exitCode = ["valid", "not proved", "malformed"].indexOf(verdict);
  }
}

(* Checks a privacy statement (format dp-statement/1): dpcheck-rocq statement.json

   Prints "valid", "not proved", "malformed" or "no rule yet", and why (exit status 0, 1, 2, 3). This file and json.ml only
   read the statement; Checker.program_most, program_least and program_histogram decide, and Rocq's theorems program_most_sound,
   program_least_sound and program_histogram_sound are about these functions. *)
module Zarith = Z
open Json

exception No_rule of string

let fail = Json.fail
let whole_of_string = Zarith.of_string
let demand fact reason = if not fact then fail reason

(* Fields ----------------------------------------------------------------------------------------- *)

let fields what required optional = function
  | Object fields ->
      let known = required @ optional in
      demand (List.for_all (fun (n, _) -> List.mem n known) fields && List.for_all (fun n -> List.mem_assoc n fields) required)
        (what ^ " is not an object with its fields");
      fields
  | _ -> fail (what ^ " is not an object")

let field name fields = List.assoc name fields
let list what = function List l -> l | _ -> fail (what ^ " is not a list")
let text what = function
  | Text t ->
      let length = ref 0 in
      String.iter (fun c -> if Char.code c land 0xC0 <> 0x80 then incr length) t;
      demand (0 < !length && !length <= 2000) (what ^ " is no text of 1 to 2000 characters"); t
  | _ -> fail (what ^ " is not a text")
let whole what low high = function
  | Whole n when low <= n && n <= high -> n | _ -> fail (what ^ " has a value that is not allowed")

(* An exact number: digits, then .digits and an exponent, or a divisor. *)
let number what value =
  let s = match value with Text s when String.length s <= 60 -> s | _ -> fail (what ^ " is no number") in
  let n = String.length s in
  let rec digits i = if i < n && is_digit s.[i] then digits (i + 1) else i in
  let part i j = if j <= i then fail (what ^ " is no number") else String.sub s i (j - i) in
  let plain i j = let d = part i j in demand (d.[0] <> '0' || (d = "0" && i = 0)) (what ^ " is no number"); d in
  let i = digits 0 in
  let top = whole_of_string (plain 0 i) in
  if i < n && s.[i] = '/' then begin
    let j = digits (i + 1) in
    demand (j = n) (what ^ " is no number");
    (top, whole_of_string (plain (i + 1) j))
  end else begin
    let j = if i < n && s.[i] = '.' then digits (i + 1) else i in
    let places = if j > i then String.length (part (i + 1) j) else 0 in
    let top = if places > 0 then whole_of_string (String.sub s 0 i ^ part (i + 1) j) else top in
    let e =
      if j < n && s.[j] = 'e' then begin
        let k = if j + 1 < n && s.[j + 1] = '-' then j + 2 else j + 1 in
        let l = digits k in
        demand (l = n && l - k <= 3) (what ^ " is no number");
        let e = int_of_string (plain k l) in
        if k = j + 2 then -e else e
      end else (demand (j = n) (what ^ " is no number"); 0) in
    let e = e - places in
    let power = Zarith.pow (Zarith.of_int 10) (abs e) in
    if e >= 0 then (Zarith.mul top power, Zarith.one) else (top, power)
  end

let lowest (a, b) = let g = Zarith.gcd a b in if Zarith.sign a = 0 then (a, Zarith.one) else (Zarith.div a g, Zarith.div b g)
let rational what v = let a, b = lowest (number what v) in { Checker.qnum = a; qden = b }
let is_one (q : Checker.q) = Zarith.equal q.qnum q.qden
let at_most_1 what (q : Checker.q) = demand (Zarith.leq q.qnum q.qden) (what ^ " has a value that is not allowed"); q
let fraction what v =
  let q = rational what v in
  demand (Zarith.sign q.qnum > 0) (what ^ " has a value that is not allowed");
  { Checker.numerator = q.qnum; denominator = q.qden }

(* Releases --------------------------------------------------------------------------------------- *)

let unknown = [
  ("gaussian-sparse-histogram", ["k"; "sigma"; "tau"], []);
  ("correlated-sparse-histogram", ["sparsity"; "sigma"; "tau"], []);
  ("discrete-sparse-histogram", ["k"; "sigma2"; "tau"], [])]

let release add_remove value =
  let names required optional = fields "a release" ("mechanism" :: "times" :: required) optional value in
  let mechanism = match value with
    | Object f -> (match List.assoc_opt "mechanism" f with Some (Text m) -> m | _ -> fail "the mechanism is unknown")
    | _ -> fail "a release is not an object" in
  let steps f =
    let s = fraction "sensitivity" (field "sensitivity" f) in
    if not (Zarith.equal s.denominator Zarith.one) then raise (No_rule "the sensitivity of integers is an integer");
    s.numerator in
  let f, runs = match mechanism with
    | "finite-law" ->
        let f = names ["outcomes"] [] in
        let pair v = match list "outcomes" v with
          | [p; q] -> (at_most_1 "outcomes" (rational "outcomes" p), at_most_1 "outcomes" (rational "outcomes" q))
          | _ -> fail "outcomes are pairs" in
        let pairs = List.map pair (list "outcomes" (field "outcomes" f)) in
        demand (pairs <> [] && List.length pairs <= 65536) "outcomes are 1 to 65536 pairs";
        demand (Checker.proper_outcomes pairs) "the probabilities of outcomes do not add up to 1";
        (f, Checker.FiniteLaw pairs)
    | "randomized-response" ->
        let f = names ["epsilon"] ["rate"] in (f, Checker.RandomizedResponse (rational "epsilon" (field "epsilon" f)))
    | "discrete-laplace" ->
        let f = names ["scale"; "sensitivity"] ["rate"] in
        (f, Checker.DiscreteLaplace (fraction "scale" (field "scale" f), steps f))
    | "discrete-gaussian" ->
        let f = names ["sigma2"; "sensitivity"] ["rate"] in
        (f, Checker.DiscreteGaussian (fraction "sigma2" (field "sigma2" f), steps f))
    | "gaussian" ->
        let f = names ["sigma"; "sensitivity"] ["rate"] in
        (f, Checker.Gaussian (fraction "sigma" (field "sigma" f), fraction "sensitivity" (field "sensitivity" f)))
    | "laplace" ->
        let f = names ["scale"; "sensitivity"] ["rate"] in
        (f, Checker.Laplace (fraction "scale" (field "scale" f), fraction "sensitivity" (field "sensitivity" f)))
    | "approximate" ->
        let f = names ["epsilon"; "delta"] [] in
        (f, Checker.Approximate (rational "epsilon" (field "epsilon" f), at_most_1 "delta" (rational "delta" (field "delta" f))))
    | "zcdp" -> let f = names ["rho"] [] in (f, Checker.ZeroConcentrated (rational "rho" (field "rho" f)))
    | m ->
        (match List.find_opt (fun (n, _, _) -> n = m) unknown with
         | None -> fail "the mechanism is unknown"
         | Some (_, required, optional) ->
             let f = names required optional in
             demand (add_remove || not (List.mem_assoc "rate" f || List.mem_assoc "tau" f))
               "sampling and sparse histograms are for add-remove neighbours";
             raise (No_rule ("there is no rule yet for the mechanism " ^ m))) in
  let rate = match List.assoc_opt "rate" f with
    | None -> None
    | Some v ->
        demand add_remove "sampling and sparse histograms are for add-remove neighbours";
        let q = at_most_1 "rate" (rational "rate" v) in
        let r = fraction "rate" v in
        if is_one q then None else Some r in
  { Checker.runs; rate; count = Zarith.of_int (whole "times" 1 1_000_000_000 (field "times" f)) }

(* Claims ----------------------------------------------------------------------------------------- *)

let pair what v = match list what v with
  | [a; b] ->
      let read = whole what (-1_000_000_000) 1_000_000_000 in
      let a = read a in let b = read b in
      demand (a <= b) (what ^ " is no pair in order"); (a, b)
  | _ -> fail (what ^ " is no pair")
let big (a, b) = (Zarith.of_int a, Zarith.of_int b)

let known part releases reason =
  if Checker.total_of part releases = None then raise (No_rule ("there is no rule yet for " ^ reason))

let known_divergence order (releases : Checker.release list) =
  let sampled (r : Checker.release) = match r.runs with Checker.Gaussian _ -> r.rate <> None | _ -> false in
  if List.exists sampled releases then raise (No_rule "there is no rule yet for the divergence of a sampled release");
  known (Checker.divergence_of_mechanism order) releases "the divergence of a release"

let derivation (releases : Checker.release list) value =
  let names required = fields "derivation" ("rule" :: required) [] value in
  match value with
  | Object f ->
      (match List.assoc_opt "rule" f with
       | Some (Text "curve") -> ignore (names []); Checker.Derived Checker.CurveRule
       | Some (Text "basic") -> ignore (names []); Checker.Derived Checker.BasicRule
       | Some (Text "grid") ->
           let f = names ["step"; "mass_bits"; "nodes"; "window"] in
           let nodes = List.map (pair "nodes") (list "nodes" (field "nodes" f)) in
           demand (List.length nodes = List.length releases) "nodes are not one pair for each release";
           let window = pair "window" (field "window" f) in
           let size (a, b) = b - a + 1 in
           if List.fold_left (fun s n -> s + size n) 0 nodes > 8192 || size window > 16384
           then raise (No_rule "the grid has too many nodes");
           Checker.Derived (Checker.GridRule (fraction "step" (field "step" f),
             Zarith.of_int (whole "mass_bits" 16 160 (field "mass_bits" f)), List.map big nodes, big window))
       | Some (Text "renyi") ->
           let order = rational "order" (field "order" (names ["order"])) in
           demand (Zarith.gt order.qnum order.qden) "order has a value that is not allowed";
           known_divergence order releases;
           Checker.ByDivergence order
       | Some (Text ("sum" | "overlaps" as r)) -> raise (No_rule ("there is no rule yet for the derivation " ^ r))
       | _ -> fail "the rule is unknown")
  | _ -> fail "derivation is not an object"

(* The rule of a quantity that adds up. *)
let by_sum value =
  match List.assoc_opt "rule" (fields "derivation" ["rule"] ["order"; "starts"; "step"; "mass_bits"; "nodes"; "window"] value) with
  | Some (Text "sum") -> ignore (fields "derivation" ["rule"] [] value)
  | _ -> raise (No_rule "this quantity needs the rule sum")

let has_outcomes (r : Checker.release) = match r.runs with
  | Checker.Approximate _ | Checker.ZeroConcentrated _ -> false
  | _ -> true

(* The theorems hold for numbers of any precision: to choose one costs work, and no truth. A claim that 256 binary digits do not prove is
   tried once more, with as many as its own numbers need: 96 beyond the first one of the bound, and those of e^loss. *)
let least_digits = 256 and most_digits = 8192
let nearest_to_1 = 200  (* leading zeros of 1 - b, for a number b < 1 of 60 characters *)
let leading_zeros (q : Checker.q) = max 0 (Zarith.numbits q.qden - Zarith.numbits q.qnum)
let digits_of_exponential (loss : Checker.q) =  (* e < 2^(3/2) *)
  let limit = Zarith.of_int most_digits in
  Zarith.to_int (Zarith.min limit (Zarith.cdiv (Zarith.mul (Zarith.of_int 3) loss.qnum) (Zarith.mul (Zarith.of_int 2) loss.qden)))
let digits_of_choice = function
  | Checker.Derived (Checker.GridRule (step, mass_bits, nodes, _)) ->
      let largest = List.fold_left (fun m (a, b) -> Zarith.max m (Zarith.max (Zarith.abs a) (Zarith.abs b))) Zarith.zero nodes in
      16 + Zarith.to_int mass_bits + digits_of_exponential { qnum = Zarith.mul largest step.numerator; qden = step.denominator }
  | Checker.Derived _ -> 0
  | Checker.ByDivergence order -> Zarith.numbits order.qnum
let with_digits epsilon how zeros proves =
  let needed = max (digits_of_choice how) 96 + zeros + digits_of_exponential epsilon in
  proves (Zarith.of_int least_digits)
  || (least_digits < needed && needed <= most_digits && proves (Zarith.of_int needed))

(* What is true of each side of a claim. *)
let claim named one_pair (releases : Checker.release list) value =
  let f = match value with Object f -> f | _ -> fail "a claim is not an object" in
  demand (List.mem_assoc "at_most" f || List.mem_assoc "at_least" f) "a claim is at_most, at_least or both";
  let read required optional = fields "a claim" ("measure" :: "derivation" :: required) ("at_most" :: "at_least" :: optional) value in
  let number_of name f = rational name (field name f) in
  let how f = derivation releases (field "derivation" f) in
  let no_rule reason = fun _ -> raise (No_rule ("there is no rule yet for " ^ reason)) in
  let most measure epsilon how bound =
    with_digits epsilon how (leading_zeros bound) (fun digits -> Checker.program_most digits named releases measure bound how) in
  let least measure epsilon how bound zeros =
    with_digits epsilon how zeros (fun digits -> Checker.program_least digits named one_pair releases measure bound epsilon how) in
  let exactly measure bound =  (* no number is rounded *)
    Checker.program_most (Zarith.of_int least_digits) named releases measure bound (Checker.Derived Checker.CurveRule) in
  let exactly_least measure bound =
    Checker.program_least (Zarith.of_int least_digits) named one_pair releases measure bound bound (Checker.Derived Checker.CurveRule) in
  let at_most, at_least = match List.assoc_opt "measure" f with
    | Some (Text "delta") ->
        let f = read ["epsilon"] [] in
        let epsilon = number_of "epsilon" f in
        let measure = Checker.Delta epsilon in
        ((fun bound -> most measure epsilon (how f) bound),
         (fun bound ->
            if not (List.for_all has_outcomes releases) then raise (No_rule "there is no rule yet for a lower bound of a release");
            least measure epsilon (how f) bound (leading_zeros bound)))
    | Some (Text "type-two") ->
        let f = read ["epsilon"; "type_one"] [] in
        let epsilon = number_of "epsilon" f in
        let first = at_most_1 "type_one" (number_of "type_one" f) in
        let measure = Checker.SecondError first in
        ((fun bound -> ignore (how f); exactly measure bound), (fun bound -> least measure epsilon (how f) bound nearest_to_1))
    | Some (Text "rho") ->
        let f = read [] ["delta"] in
        let delta = match List.assoc_opt "delta" f with Some v -> at_most_1 "delta" (rational "delta" v) | None -> rational "delta" (Text "0") in
        ((fun bound ->
            by_sum (field "derivation" f);
            if Zarith.sign delta.qnum <> 0 then raise (No_rule "there is no rule yet for rho beside a delta");
            known Checker.rho_of_mechanism releases "rho of a release";
            exactly Checker.Rho bound), no_rule "at_least of rho")
    | Some (Text "renyi") ->
        let f = read ["order"] [] in
        let order = number_of "order" f in
        demand (Zarith.gt order.qnum order.qden) "order has a value that is not allowed";
        ((fun bound ->
            by_sum (field "derivation" f);
            known_divergence order releases;
            exactly (Checker.RenyiDivergence order) bound), no_rule "at_least of a divergence")
    | Some (Text "mu") ->
        let f = read [] [] in
        let by_squares proves bound =
          by_sum (field "derivation" f);
          if Checker.all_squares releases = None then raise (No_rule "there is no rule yet for mu of a release");
          proves Checker.Mu bound in
        (by_squares exactly, by_squares exactly_least)
    | _ -> fail "the measure is unknown" in
  let side name proves = match List.assoc_opt name f with
    | None -> []
    | Some v -> [(try if proves (rational name v) then `Proved else `Not_proved with No_rule r -> `No_rule r)] in
  side "at_most" at_most @ side "at_least" at_least

(* One sparse histogram with integer noise: delta at most, by the rule overlaps. *)
let histogram_claim release =
  let f = fields "a release" ["mechanism"; "times"; "k"; "sigma2"; "tau"] [] release in
  let k = Zarith.of_int (whole "k" 1 1_000_000_000 (field "k" f)) and sigma2 = fraction "sigma2" (field "sigma2" f) in
  let tau = let a, b = number "tau" (field "tau" f) in Zarith.fdiv a b in
  fun value ->
    let f = match value with Object f -> f | _ -> fail "a claim is not an object" in
    match List.assoc_opt "measure" f, List.assoc_opt "at_most" f, List.assoc_opt "at_least" f with
    | Some (Text "delta"), Some bound, None ->
        let f = fields "a claim" ["measure"; "derivation"; "epsilon"; "at_most"] [] value in
        (match field "derivation" f with
         | Object [_; _] as rule when (match rule with Object r -> List.assoc_opt "rule" r = Some (Text "overlaps") | _ -> false) ->
             let start v = Zarith.of_int (whole "starts" (-1_000_000_000) 1_000_000_000 v) in
             let starts = List.map start (list "starts" (field "starts" (fields "derivation" ["rule"; "starts"] [] rule))) in
             let epsilon = rational "epsilon" (field "epsilon" f) in
             if Checker.program_histogram (Zarith.of_int 256) k sigma2 tau epsilon (rational "at_most" bound) starts then `Proved else `Not_proved
         | _ -> `No_rule "the histogram has no other rule")
    | _ -> `No_rule "there is no rule yet for this claim about a histogram"

let rec about = function List l -> List.iter about l | v -> ignore (text "about" v)

let check bytes =
  let s = fields "statement" ["format"; "unit"; "releases"; "claims"; "premises"; "not_shown"; "made_by"] ["about"] (parse bytes) in
  demand (field "format" s = Text "dp-statement/1") "format has a value that is not allowed";
  let u = fields "unit" ["neighbours"; "of"; "bounds"] ["one_pair"] (field "unit" s) in
  let one_pair = match List.assoc_opt "one_pair" u with
    | None -> false | Some (Truth t) -> t | _ -> fail "one_pair has a value that is not allowed" in
  let named = match field "neighbours" u with
    | Text ("add-remove" | "zero-out") -> true
    | Text ("replace-one" | "pair") -> false
    | _ -> fail "neighbours has a value that is not allowed" in
  ignore (text "of" (field "of" u));
  List.iter (fun b ->
    let b = fields "bounds" ["what"; "at_most"; "checked"] [] b in
    ignore (text "what" (field "what" b)); ignore (number "at_most" (field "at_most" b));
    match field "checked" b with Truth _ -> () | _ -> fail "checked has a value that is not allowed")
    (list "bounds" (field "bounds" u));
  let by = fields "made_by" ["name"; "version"] [] (field "made_by" s) in
  ignore (text "name" (field "name" by)); ignore (text "version" (field "version" by));
  List.iter (fun n -> List.iter (fun t -> ignore (text n t)) (list n (field n s))) ["premises"; "not_shown"];
  (match List.assoc_opt "about" s with Some a -> List.iter (fun l -> ignore (list "about" l)) (list "about" a); about a | None -> ());
  let releases = list "releases" (field "releases" s) and claims = list "claims" (field "claims" s) in
  demand (releases <> [] && List.length releases <= 500 && claims <> []) "releases are 1 to 500, and claims at least 1";
  let add_remove = field "neighbours" u = Text "add-remove" in
  let releases, verdicts = match releases with
    | [Object f as one] when List.assoc_opt "mechanism" f = Some (Text "discrete-sparse-histogram") && List.assoc_opt "times" f = Some (Whole 1) ->
        demand add_remove "sampling and sparse histograms are for add-remove neighbours";
        ([], List.map (histogram_claim one) claims)
    | _ ->
        let releases = List.map (release add_remove) releases in
        (releases, List.concat_map (claim named one_pair releases) claims) in
  if List.mem `Not_proved verdicts then (1, "not proved: a claim fails")
  else match List.find_opt (function `No_rule _ -> true | _ -> false) verdicts with
    | Some (`No_rule r) -> (3, "no rule yet: " ^ r)
    | _ ->
        let promised (r : Checker.release) = match r.runs with
          | Checker.Approximate _ | Checker.ZeroConcentrated _ -> true | _ -> false in
        let trust = if List.exists promised releases then "; stated guarantees are taken on trust" else "" in
        (0, Printf.sprintf "valid: claims proved: %d%s" (List.length claims) trust)

let () =
  let file = open_in_bin Sys.argv.(1) in
  let bytes = really_input_string file (min (in_channel_length file) ((1 lsl 20) + 1)) in
  let status, line = try check bytes with
    | Malformed reason -> (2, "malformed: " ^ reason)
    | No_rule reason -> (3, "no rule yet: " ^ reason)
    | Stack_overflow | Out_of_memory -> (1, "not proved: the statement is too large for this program") in
  print_endline line;
  exit status

(* Claims at_least: the rules `curve` and `grid` from below. *)
From Coq Require Import Reals Lra Lia ZArith QArith Qreals List Bool.
Import ListNotations.
From DP Require Import Normal NormalTop NormalSum Law Profile Compose Grid Fixed Exponential Above Tops Statement Bounds GridRule Checker Lower NormalBelow Parts
  Outcomes BelowGrid.
Open Scope R_scope.

(* delta at epsilon is at least this: for every e > 0 some neighbours whose laws are those of section 3 have an event that shows it
   to within e. All runs have one pair of neighbours and one order. *)
Definition delta_at_least (classes : list class) (epsilon bound : R) : Prop := forall e, 0 < e ->
  exists s, attains classes s /\ exists f, decision s f /\ bound - e <= mean_first s f - exp epsilon * mean_second s f.

Definition extreme_classes (orient : class -> class) (releases : list release) : list class :=
  flat_map (fun r => repeat (orient (extreme_release r)) (Pos.to_nat (count r))) releases.

Definition attained_delta (releases : list release) (epsilon bound : R) : Prop :=
  delta_at_least (extreme_classes (fun C => C) releases) epsilon bound
  \/ delta_at_least (extreme_classes reversed releases) epsilon bound.

(* A composition of pairs that exist exists. *)
Lemma attains_exists Cs : Forall inhabited Cs -> exists s, attains Cs s.
Proof.
  induction 1 as [|C Cs [Y [P [Q H]]] _ [s Hs]]; [now exists stop|]. exists (run Y P Q (fun _ => s)). now exists Y, P, Q, s.
Qed.

Section Below.
Variable p : positive.

Definition at_least (u : ends) (bound : Q) : bool :=
  match u with Some (a, _) => (Qnum bound * one p <=? a * QDen bound)%Z | None => false end.

Lemma at_least_sound u bound x : holds p u x -> at_least u bound = true -> Q2R bound <= x.
Proof.
  destruct u as [[a b]|]; simpl; [|discriminate]. intros [H _] L. apply Z.leb_le, IZR_le in L. rewrite !mult_IZR in L.
  pose proof (one_posR p). assert (0 < IZR (QDen bound)) by now apply IZR_lt. unfold Q2R.
  apply Rmult_le_reg_r with (IZR (one p) * IZR (QDen bound)); [now apply Rmult_lt_0_compat|].
  replace (IZR (Qnum bound) * / IZR (QDen bound) * (IZR (one p) * IZR (QDen bound))) with (IZR (Qnum bound) * IZR (one p)) by (field; lra).
  apply Rle_trans with (IZR a * IZR (QDen bound)); [exact L|]. rewrite <- Rmult_assoc. apply Rmult_le_compat_r; lra.
Qed.

(* Rule `curve`: the outcomes for which p - x q is certainly > 0 are an event. *)
Fixpoint gain (x : ends) (l : list cell) : Z :=
  match l with [] => 0 | c :: rest => Z.max 0 (lower_end (minus (fst c) (times p x (snd c)))) + gain x rest end%Z.

Lemma gain_sound {O} (P Q : law O) x r l : holds p x r -> forall fs, matches p P Q fs l -> exists f, good P Q f
  /\ (forall o, f o <= sum (fun g => g o) fs) /\ real_of p (gain x l) <= mean P f - r * mean Q f.
Proof.
  intro Hx. induction l as [|c l IH]; intros fs [F E]; inversion E as [|g ? fs' ? Eg Efs]; subst; cbn [gain sum].
  - exists (fun _ => 0). repeat split; try apply measurable_const; try (intro; lra). rewrite !mean_const. unfold real_of. lra.
  - inversion F as [|? ? [G1 [G2 G3]] Gfs]; subst. destruct (IH fs' (conj Gfs Efs)) as [f [[F1 [F2 F3]] [F4 F5]]].
    destruct Eg as [E1 E2]. pose proof (minus_holds p _ _ _ _ E1 (times_holds p _ _ _ _ Hx E2)) as M.
    assert ((lower_end (minus (fst c) (times p x (snd c))) <= 0)%Z \/ real_of p (Z.max 0 (lower_end (minus (fst c) (times p x (snd c))))) <= mean P g - r * mean Q g) as D.
    { destruct (minus (fst c) (times p x (snd c))) as [[a b]|]; simpl in *; [|left; lia].
      destruct (Z.le_gt_cases a 0); [now left | right]. rewrite Z.max_r by lia. unfold real_of. pose proof (one_posR p).
      apply Rmult_le_reg_r with (IZR (one p)); [assumption|]. replace (IZR a / IZR (one p) * IZR (one p)) with (IZR a) by (field; lra). apply M. }
    destruct D as [D|D].
    + exists f. split; [now repeat split|]. split; [intro o; specialize (F4 o); specialize (G3 o); lra|]. rewrite Z.max_l by lia. exact F5.
    + exists (fun o => g o + f o). split; [repeat split; [now apply measurable_plus | now apply measurable_plus | intro o; specialize (F3 o); specialize (G3 o); lra]|].
      split; [intro o; specialize (F4 o); lra|]. rewrite !mean_plus, real_of_plus by assumption. lra.
Qed.

(* Any number of Gaussian runs: the curve of the root of the sum of squares is attained. *)
Definition gaussian_below (o : order) (releases : list release) (eps : Q) : ends :=
  match o, releases, all_squares releases with
  | forward, _ :: _, Some q =>
      let half := half_area_ends p in
      let mu := root p (real p q) in
      let y := real p eps in
      gauss_at p half (over p (whole p 1) (plus half half)) mu (over p (whole p 1) mu) y (exponential p y)
  | _, _, _ => None
  end.

Definition gauss_runs (r : release) : list (R * R) :=
  match runs r with
  | Gaussian sigma s => repeat (real_fraction (shift_of sigma s), real_fraction sigma) (Pos.to_nat (count r))
  | _ => []
  end.

Lemma all_squares_attained releases : forall q, all_squares releases = Some q -> exists l, positive_runs l
  /\ Forall2 (fun a (C : class) => C R (with_user a) (without_user a)) l (extreme_classes (fun C => C) releases)
  /\ squares l = Q2R q /\ (releases <> [] -> l <> []).
Proof.
  intros q H. exists (flat_map gauss_runs releases). revert q H.
  induction releases as [|r rest IH]; intros q; cbn [all_squares flat_map].
  - intro H. inversion H. repeat split; try constructor; [|auto]. unfold squares, Q2R. simpl. lra.
  - destruct (square_of r) as [one_square|] eqn:E; [|discriminate]. destruct (all_squares rest) as [more|]; [|discriminate].
    intro H. inversion H; subst; clear H. destruct (IH more eq_refl) as [L1 [L2 [L3 _]]].
    assert (exists a, 0 < fst a /\ 0 < snd a /\ gauss_runs r = repeat a (Pos.to_nat (count r)) /\ fst a * fst a = Q2R one_square
      /\ extreme_release r R (with_user a) (without_user a)) as [a [A1 [A2 [-> [A3 A4]]]]].
    { unfold square_of in E. unfold gauss_runs, extreme_release. destruct (runs r) as [| | | | | |sigma s|]; try discriminate. destruct (rate r); [discriminate|].
      exists (real_fraction (shift_of sigma s), real_fraction sigma). split; [apply fraction_pos|]. split; [apply fraction_pos|]. split; [reflexivity|]. split.
      - assert (one_square = let mu := shift_of sigma s in Qmake (Zpos (numerator mu * numerator mu)) (denominator mu * denominator mu)) as -> by congruence.
        destruct (shift_of sigma s) as [n d]. unfold real_fraction, Q2R. cbn [fst numerator denominator Qnum Qden].
        rewrite !Pos2Z.inj_mul, !mult_IZR. field. now apply not_0_IZR.
      - unfold with_user, without_user. cbn [fst snd]. rewrite <- shift_real. constructor. }
    split; [|split; [|split]].
    + apply Forall_app. split; [|exact L1]. apply Forall_forall. intros x Hx. apply repeat_spec in Hx. now subst.
    + apply Forall2_app; [now apply Forall2_repeat | exact L2].
    + unfold squares in *. rewrite sum_app, L3, (Qeq_eqR _ _ (Qred_correct _)), Q2R_plus, Q2R_times, <- A3. f_equal.
      induction (Pos.to_nat (count r)) as [|k IHk]; [simpl; lra|]. cbn [repeat sum]. rewrite IHk, S_INR. ring.
    + intros _. pose proof (Pos2Nat.is_pos (count r)). destruct (Pos.to_nat (count r)); [lia | discriminate].
Qed.

Lemma gaussian_below_sound o releases eps bound : at_least (gaussian_below o releases eps) bound = true ->
  delta_at_least (extreme_classes (orient o) releases) (Q2R eps) (Q2R bound).
Proof.
  unfold gaussian_below. destruct o; try discriminate. destruct releases as [|r rest]; [discriminate|].
  destruct (all_squares (r :: rest)) as [q|] eqn:Eq; [|discriminate]. cbv zeta. intros H e He.
  destruct (all_squares_attained _ q Eq) as [l [L1 [L2 [L3 L4]]]]. assert (l <> []) as L5 by (apply L4; discriminate).
  pose proof (root_of_pos l L1 L5) as Hr. pose proof (exp_pos (Q2R eps)) as He'.
  assert (holds p (root p (real p q)) (root_of l)) as Hm by (unfold root_of; rewrite L3; apply root_holds, real_holds).
  pose proof (gauss_at_holds p _ _ _ _ _ _ _ Hr (half_area_holds p) Hm (over_holds p _ _ _ _ (whole_holds p 1) Hm) (real_holds p eps)
    (exponential_holds p _ _ (real_holds p eps))) as G.
  pose proof (at_least_sound _ _ _ G H) as B. destruct (gaussian_sessions_attain l L1 L5 (exp (Q2R eps)) He') as [f [Df Vf]].
  exists (gauss_session l). split; [now apply gauss_session_attains|]. exists f. split; [exact Df | lra].
Qed.

Definition curve_below (o : order) (releases : list release) (eps : Q) : ends :=
  match releases with
  | [r] => if (count r =? 1)%positive then
             let x := exponential p (real p eps) in
             match outcomes_of_release p o [x] r with Some l => exactly (gain x l) | None => None end
           else gaussian_below o releases eps
  | _ => gaussian_below o releases eps
  end.

Theorem curve_below_sound o releases eps bound : at_least (curve_below o releases eps) bound = true ->
  delta_at_least (extreme_classes (orient o) releases) (Q2R eps) (Q2R bound).
Proof.
  unfold curve_below. destruct releases as [|r [|]]; [apply gaussian_below_sound| |apply gaussian_below_sound].
  destruct (Pos.eqb_spec (count r) 1) as [E1|]; [|apply gaussian_below_sound].
  cbv zeta. destruct (outcomes_of_release p o _ r) as [l|] eqn:El; [|discriminate]. intros H e He.
  destruct (outcomes_of_release_sound p o _ r l El) as [Y [P [Q [HC [fs [Hm HS]]]]]].
  pose proof (exponential_holds p _ _ (real_holds p eps)) as Hx.
  destruct (gain_sound P Q _ _ l Hx fs Hm) as [f [[F1 [F2 F3]] [F4 F5]]].
  pose proof (at_least_sound _ _ _ (exactly_holds p _) H) as B.
  exists (run Y P Q (fun _ => stop)). split.
  - unfold extreme_classes. simpl. rewrite E1. simpl. now exists Y, P, Q, stop.
  - exists (fun t => f (projT1 t)). split; [|change (Q2R bound - e <= mean P f - exp (Q2R eps) * mean Q f); lra].
    split; [|now repeat split]. intro o'. simpl. specialize (F3 o'). specialize (F4 o'). specialize (HS o'). lra.
Qed.

(* Rule `grid` ------------------------------------------------------------------------------------------------------------ *)

Variable convolve : list Z -> list Z -> list Z.
Hypothesis convolve_correct : forall a b, convolve a b = convolution a b.
Variables (num den : positive).  (* the step *)
Variables (mass_bits low high : Z).
Hypothesis bits_fit : (0 <= mass_bits <= Zpos p)%Z.
Let step := GridRule.step num den.
Let step_pos := GridRule.step_pos num den.

(* Nodes are moved down by 2^-100, so that outcomes on a node are certainly above it. *)
Definition hair : Q := Qmake 1 (2 ^ 100).
Let c : R := exp (Q2R hair).
Lemma c_pos : 0 < c.
Proof. apply exp_pos. Qed.

Definition node_below (i : Z) : ends := exponential p (real p (Qmake (i * Zpos num) den - hair)%Q).
Lemma node_below_holds i : holds p (node_below i) (node step i / c).
Proof.
  unfold node_below, node, c, step. replace (exp (IZR i * GridRule.step num den) / exp (Q2R hair)) with (exp (Q2R (Qmake (i * Zpos num) den - hair)%Q)).
  - apply exponential_holds, real_holds.
  - rewrite Q2R_minus, (loss_real p num den mass_bits bits_fit). unfold Rminus, Rdiv. now rewrite exp_plus, exp_Ropp.
Qed.
Fixpoint nodes_below (i : Z) (k : nat) : list ends := match k with O => [] | S j => node_below i :: nodes_below (i + 1) j end.
Lemma nodes_below_hold k : forall i, on_nodes p step c i (nodes_below i k).
Proof. induction k as [|k IH]; intro i; simpl; [exact Logic.I|]. split; [apply node_below_holds | apply IH]. Qed.

(* What is below the window is dropped; what is above moves to its last node. *)
Fixpoint squash (k : nat) (m : Z) (l : list Z) : list Z :=
  match k, l with S j, s :: t => m :: squash j s t | _, _ => [m + total l]%Z end.
Definition into_window_below (g : grid) : grid :=
  let k := Z.to_nat (low - first g) in
  let i := (first g + Z.of_nat k)%Z in
  if (i <=? high)%Z then
    match skipn k (units g) with
    | [] => Grid i [] (far g)
    | m :: t => Grid i (squash (Z.to_nat (high - i)) m t) (far g)
    end
  else Grid i [] (far g).
Definition round_down (g : grid) : grid :=
  Grid (first g) (map (fun m => Z.shiftr m mass_bits) (units g)) (Z.shiftr (far g) mass_bits).
Definition product_below (a b : grid) : grid :=
  round_down (into_window_below (Grid (first a + first b) (convolve (units a) (units b))
    (far a * (total (units b) + far b) + total (units a) * far b))).

Lemma squash_spread x : 0 <= x -> forall k l m i, (0 <= m)%Z -> Forall (fun m => (0 <= m)%Z) l ->
  spread step (squash k m l) i hinge x <= spread step (m :: l) i hinge x /\ Forall (fun m => (0 <= m)%Z) (squash k m l).
Proof.
  intros Hx. induction k as [|k IH]; intros l m i Hm H.
  - assert (squash 0 m l = [m + total l]%Z) as -> by reflexivity. pose proof (total_nonneg l H) as Tl. split; [|repeat constructor; lia].
    cbn [spread]. rewrite plus_IZR.
    assert (forall j, (i <= j)%Z -> IZR (total l) * hinge (x / node step i) <= spread step l j hinge x) as G.
    { clear Hm Tl. induction H as [|n l Hn Hl IHl]; intros j Hj; simpl; [lra|]. rewrite plus_IZR.
      specialize (IHl (j + 1)%Z ltac:(lia)). pose proof (hinge_node step step_pos x i j Hx Hj). apply IZR_le in Hn. nra. }
    specialize (G (i + 1)%Z ltac:(lia)). lra.
  - destruct l as [|s t]; [simpl; split; [rewrite Z.add_0_r; lra | repeat constructor; lia]|]. inversion H; subst.
    destruct (IH t s (i + 1)%Z ltac:(assumption) ltac:(assumption)) as [I1 I2]. cbn [squash]. split; [|constructor; assumption].
    cbn [spread] in *. lra.
Qed.

Lemma skipn_spread x k : forall l i, Forall (fun m => (0 <= m)%Z) l ->
  spread step (skipn k l) (i + Z.of_nat k) hinge x <= spread step l i hinge x /\ Forall (fun m => (0 <= m)%Z) (skipn k l).
Proof.
  induction k as [|k IH]; intros l i H.
  - simpl. rewrite Z.add_0_r. split; [lra | exact H].
  - destruct l as [|m l]; [simpl; split; [lra | constructor]|]. inversion H; subst. destruct (IH l (i + 1)%Z ltac:(assumption)) as [I1 I2].
    cbn [skipn spread]. replace (i + Z.of_nat (S k))%Z with (i + 1 + Z.of_nat k)%Z by lia. split; [|exact I2].
    pose proof (hinge_nonneg (x / node step i)). assert (0 <= IZR m) by now apply IZR_le. nra.
Qed.

Lemma into_window_below_lower w g : 0 <= w -> non_negative g -> non_negative (into_window_below g)
  /\ forall x, 0 <= x -> curve (profile_of step w (into_window_below g)) x <= curve (profile_of step w g) x.
Proof.
  intros Hw [H0 H1]. unfold into_window_below. set (k := Z.to_nat (low - first g)). set (i := (first g + Z.of_nat k)%Z).
  assert (forall ms, Forall (fun m => (0 <= m)%Z) ms -> (forall x, 0 <= x -> spread step ms i hinge x <= spread step (units g) (first g) hinge x) ->
    non_negative (Grid i ms (far g)) /\ forall x, 0 <= x -> curve (profile_of step w (Grid i ms (far g))) x <= curve (profile_of step w g) x) as G.
  { intros ms N L. split; [now split|]. intros x Hx. unfold curve. rewrite !act_profile. simpl. apply Rmult_le_compat_l; [exact Hw|]. specialize (L x Hx). lra. }
  assert (forall x, 0 <= x -> 0 <= spread step (units g) (first g) hinge x) as N.
  { intros x Hx. destruct (skipn_spread x (length (units g)) (units g) (first g) H1) as [S _]. now rewrite skipn_all in S. }
  destruct (Z.leb_spec i high); [|apply G; [constructor | exact N]].
  destruct (skipn k (units g)) as [|m t] eqn:E; [apply G; [constructor | exact N]|]. apply G.
  - destruct (skipn_spread 0 k (units g) (first g) H1) as [_ F]. rewrite E in F. inversion F; subst.
    now apply (squash_spread 0 ltac:(lra) _ t m i).
  - intros x Hx. destruct (skipn_spread x k (units g) (first g) H1) as [S F]. rewrite E in S, F. inversion F; subst.
    eapply Rle_trans; [apply (squash_spread x Hx _ t m i); assumption | exact S].
Qed.

Lemma round_down_lower w g : 0 <= w -> non_negative g -> non_negative (round_down g)
  /\ forall x, 0 <= x -> curve (profile_of step (IZR (2 ^ mass_bits) * w) (round_down g)) x <= curve (profile_of step w g) x.
Proof.
  intros Hw [H0 H1]. split.
  - split; simpl; [now apply Z.shiftr_nonneg|]. apply Forall_map. eapply Forall_impl; [|exact H1]. intros m Hm. now apply Z.shiftr_nonneg.
  - intros x Hx. unfold curve. rewrite !act_profile. cbn [round_down first units far]. rewrite (Rmult_comm _ w), Rmult_assoc.
    apply Rmult_le_compat_l; [assumption|]. rewrite hinge_0, Rmult_plus_distr_l.
    assert (forall m, IZR (2 ^ mass_bits) * IZR (Z.shiftr m mass_bits) <= IZR m) as D.
    { intro m. rewrite <- mult_IZR. apply IZR_le. rewrite Z.shiftr_div_pow2 by lia. apply Z.mul_div_le. apply Z.pow_pos_nonneg; lia. }
    apply Rplus_le_compat; [specialize (D (far g)); lra|]. generalize (first g).
    induction (units g) as [|m l IH]; intro i; simpl; [lra|]. inversion H1; subst. specialize (IH ltac:(assumption) (i + 1)%Z).
    pose proof (Rmult_le_compat_r (hinge (x / node step i)) _ _ (hinge_nonneg _) (D m)). lra.
Qed.

(* A grid is below n runs, whose nodes are n hairs lower. *)
Definition supports (g : grid) (n : nat) (As : list profile) : Prop :=
  non_negative g /\ Forall proper As /\ forall x, 0 <= x -> curve (grid_profile step mass_bits g) (c ^ n * x) <= chain As x.

Lemma product_supports a b n m As Bs : supports a n As -> supports b m Bs -> supports (product_below a b) (n + m) (As ++ Bs).
Proof.
  intros [A1 [A2 A3]] [B1 [B2 B3]]. unfold product_below. rewrite convolve_correct.
  pose proof (unit_pos mass_bits ltac:(lia)) as Hu. assert (0 <= unit_of mass_bits) as Hu0 by lra.
  assert (0 <= unit_of mass_bits * unit_of mass_bits) as Huu by nra.
  pose proof (exact_product_non_negative a b A1 B1) as Np.
  change (Grid (first a + first b) (convolution (units a) (units b)) (far a * (total (units b) + far b) + total (units a) * far b)) with (exact_product a b).
  destruct (into_window_below_lower _ _ Huu Np) as [W1 W2]. destruct (round_down_lower _ _ Huu W1) as [R1 R2].
  split; [exact R1|]. split; [now apply Forall_app|]. intros x Hx.
  pose proof c_pos as Hc. assert (0 < c ^ n) as Hn by now apply pow_lt. assert (0 < c ^ m) as Hm by now apply pow_lt.
  assert (proper (grid_profile step mass_bits a)) as PA by now apply profile_proper.
  assert (proper (grid_profile step mass_bits b)) as PB by now apply profile_proper.
  pose proof (under_times (lowered (c ^ n) (grid_profile step mass_bits a)) (lowered (c ^ m) (grid_profile step mass_bits b)) As Bs
    (lowered_proper _ _ Hn PA) (lowered_proper _ _ Hm PB) A2 B2) as U.
  eapply Rle_trans; [|apply U; [| |exact Hx]].
  - unfold curve at 2. rewrite act_times by now apply lowered_proper. rewrite act_lowered by assumption.
    rewrite (act_ext _ (act (lowered (c ^ m) (grid_profile step mass_bits b)) hinge) (fun y => act (grid_profile step mass_bits b) hinge (c ^ m * y)))
      by (intro y; now apply act_lowered).
    assert (act (grid_profile step mass_bits a) (fun y => act (grid_profile step mass_bits b) hinge (c ^ m * y)) (c ^ n * x)
      = act (grid_profile step mass_bits a) (act (grid_profile step mass_bits b) hinge) (c ^ (n + m) * x)) as ->.
    { unfold act at 1 3. rewrite Rmult_0_r, Rdef_pow_add. f_equal. apply sum_ext. intros e _. do 2 f_equal. unfold Rdiv. ring. }
    unfold grid_profile. rewrite <- act_exact_product. fold (curve (profile_of step (unit_of mass_bits * unit_of mass_bits) (exact_product a b))).
    assert (0 <= c ^ (n + m) * x) as Hx' by (apply Rmult_le_pos; [left; now apply pow_lt | exact Hx]).
    eapply Rle_trans; [|apply (W2 _ Hx')]. eapply Rle_trans; [|apply (R2 _ Hx')].
    replace (IZR (2 ^ mass_bits) * (unit_of mass_bits * unit_of mass_bits)) with (unit_of mass_bits); [apply Rle_refl|].
    unfold unit_of. pose proof (power_pos mass_bits ltac:(lia)). field. lra.
  - intros y Hy. unfold curve. rewrite act_lowered by assumption. now apply A3.
  - intros y Hy. unfold curve. rewrite act_lowered by assumption. now apply B3.
Qed.

Definition join_below (result : option grid) (g : grid) : grid := match result with Some r => product_below r g | None => g end.
Fixpoint power_below (n : positive) (g : grid) (result : option grid) : grid :=
  match n with
  | xH => join_below result g
  | xO m => power_below m (product_below g g) result
  | xI m => power_below m (product_below g g) (Some (join_below result g))
  end.
Definition supports_result (result : option grid) (n : nat) (As : list profile) : Prop :=
  match result with Some g => supports g n As | None => n = O /\ As = [] end.

Lemma join_supports result g n m As Bs : supports_result result n As -> supports g m Bs -> supports (join_below result g) (n + m) (As ++ Bs).
Proof. destruct result; simpl; intros H1 H2; [now apply product_supports | destruct H1; now subst]. Qed.

Lemma power_supports A n : forall g m result k As, supports g m (repeat A m) -> supports_result result k As ->
  supports (power_below n g result) (k + Pos.to_nat n * m) (As ++ repeat A (Pos.to_nat n * m)).
Proof.
  induction n as [n IH|n IH|]; intros g m result k As Hg Hr; simpl power_below.
  - assert (supports (product_below g g) (m + m) (repeat A (m + m))) as H2 by (rewrite <- repeat_app; now apply product_supports).
    pose proof (IH (product_below g g) (m + m)%nat (Some (join_below result g)) (k + m)%nat (As ++ repeat A m) H2 (join_supports _ _ _ _ _ _ Hr Hg)) as G.
    rewrite <- app_assoc, repeat_app in G. replace (Pos.to_nat n~1 * m)%nat with (m + Pos.to_nat n * (m + m))%nat by lia.
    now replace (k + (m + Pos.to_nat n * (m + m)))%nat with (k + m + Pos.to_nat n * (m + m))%nat by lia.
  - assert (supports (product_below g g) (m + m) (repeat A (m + m))) as H2 by (rewrite <- repeat_app; now apply product_supports).
    pose proof (IH _ _ _ _ _ H2 Hr) as G. now replace (Pos.to_nat n~0 * m)%nat with (Pos.to_nat n * (m + m))%nat by lia.
  - rewrite Pos2Nat.inj_1, Nat.mul_1_l. now apply join_supports.
Qed.

Fixpoint all_below (o : order) (releases : list release) (nodes : list (Z * Z)) (result : option grid) : option grid :=
  match releases, nodes with
  | [], [] => result
  | r :: releases', (i, last) :: nodes' =>
      let (i, last) := match o with backward => (- last, - i)%Z | _ => (i, last) end in
      let xs := nodes_below i (Z.to_nat (last - i + 1)) in
      match outcomes_of_release p o xs r with
      | Some l => all_below o releases' nodes' (Some (power_below (count r) (masses_below p mass_bits i xs l) result))
      | None => None
      end
  | _, _ => None
  end.

Definition runs_of (releases : list release) : Z := fold_right (fun r n => Zpos (count r) + n)%Z 0%Z releases.
Lemma runs_of_nonneg releases : (0 <= runs_of releases)%Z.
Proof. induction releases as [|r releases IH]; unfold runs_of in *; cbn [fold_right]; lia. Qed.
Arguments runs_of : simpl never.
Definition one_profile (A : profile) (C : class) : Prop := exists Y P Q, C Y P Q /\ attained A P Q.

(* The session of these pairs. *)
Lemma one_profile_attains As Cs : Forall2 one_profile As Cs -> exists Ds s, Forall2 attained_by As Ds /\ attains Ds s /\ attains Cs s.
Proof.
  induction 1 as [|A C As Cs [Y [P [Q [HC HA]]]] _ [Ds [s [H1 [H2 H3]]]]]; [exists [], stop; repeat split; constructor|].
  exists (Finite.just P Q :: Ds), (run Y P Q (fun _ => s)). repeat split.
  - constructor; [|exact H1]. intros Y' P' Q' [ ]. exact HA.
  - exists Y, P, Q, s. split; [reflexivity|]. split; [constructor | exact H2].
  - now exists Y, P, Q, s.
Qed.

Lemma all_below_sound o releases : forall nodes result g k As Cs, all_below o releases nodes result = Some g ->
  supports_result result k As -> Forall2 one_profile As Cs -> exists Bs,
  supports g (k + Z.to_nat (runs_of releases)) (As ++ Bs) /\ Forall2 one_profile (As ++ Bs) (Cs ++ extreme_classes (orient o) releases).
Proof.
  induction releases as [|r releases IH]; intros [|[i last] nodes] result g k As Cs; simpl; try discriminate.
  - intros H Hr HC. subst. exists []. rewrite !app_nil_r, Nat.add_0_r. now split.
  - destruct (match o with backward => (- last, - i)%Z | _ => (i, last) end) as [i' last'].
    destruct (outcomes_of_release p o _ r) as [l|] eqn:E; [|discriminate]. intros H Hr HC.
    destruct (outcomes_of_release_sound p o _ r l E) as [Y [P [Q [HE HL]]]].
    set (g0 := masses_below p mass_bits i' (nodes_below i' (Z.to_nat (last' - i' + 1))) l) in *.
    destruct (masses_below_sound p P Q step c c_pos mass_bits bits_fit i' _ l (nodes_below_hold (Z.to_nat (last' - i' + 1)) i') HL) as [N [A [PA [HA HG]]]]. fold g0 in N, HG.
    assert (supports g0 1 (repeat A 1)) as H1.
    { split; [exact N|]. split; [constructor; [exact PA | constructor]|]. intros x Hx. simpl. rewrite Rmult_1_r. now apply HG. }
    pose proof (power_supports A (count r) g0 1 result k As H1 Hr) as HP. rewrite Nat.mul_1_r in HP.
    assert (Forall2 one_profile (As ++ repeat A (Pos.to_nat (count r))) (Cs ++ repeat (orient o (extreme_release r)) (Pos.to_nat (count r)))) as HC1.
    { apply Forall2_app; [exact HC|]. apply Forall2_repeat. now exists Y, P, Q. }
    destruct (IH nodes _ g _ _ _ H HP HC1) as [Bs [G1 G2]]. exists (repeat A (Pos.to_nat (count r)) ++ Bs).
    rewrite !app_assoc. split; [|exact G2].
    pose proof (runs_of_nonneg releases). change (runs_of (r :: releases)) with (Zpos (count r) + runs_of releases)%Z.
    now replace (k + Z.to_nat (Zpos (count r) + runs_of releases))%nat with (k + Pos.to_nat (count r) + Z.to_nat (runs_of releases))%nat by lia.
Qed.

Definition grid_below (o : order) (releases : list release) (nodes : list (Z * Z)) (eps : Q) : ends :=
  match all_below o releases nodes None with
  | Some g => grid_delta p num den mass_bits (eps + inject_Z (runs_of releases) * hair)%Q g
  | None => None
  end.

Theorem grid_below_sound o releases nodes eps bound : at_least (grid_below o releases nodes eps) bound = true ->
  delta_at_least (extreme_classes (orient o) releases) (Q2R eps) (Q2R bound).
Proof.
  unfold grid_below. destruct (all_below o releases nodes None) as [g|] eqn:E; [|discriminate]. intros H e He.
  destruct (all_below_sound o releases nodes None g 0%nat [] [] E (conj eq_refl eq_refl) (Forall2_nil _)) as [As [[G1 [G2 G3]] G4]]. simpl in *.
  pose proof (grid_delta_holds p num den mass_bits bits_fit (eps + inject_Z (runs_of releases) * hair)%Q g G1) as HG.
  pose proof (at_least_sound _ _ _ HG H) as B. pose proof (exp_pos (Q2R eps)) as Hx.
  assert (exp (Q2R (eps + inject_Z (runs_of releases) * hair)%Q) = c ^ Z.to_nat (runs_of releases) * exp (Q2R eps)) as Ee.
  { rewrite Q2R_plus, Q2R_mult, exp_plus, Rmult_comm. f_equal. unfold c.
    pose proof (runs_of_nonneg releases) as Hr.
    assert (Q2R (inject_Z (runs_of releases)) = INR (Z.to_nat (runs_of releases))) as ->.
    { rewrite INR_IZR_INZ, Z2Nat.id by exact Hr. unfold Q2R. simpl. lra. }
    generalize (Z.to_nat (runs_of releases)). intro k. induction k as [|k IHk]; [simpl; now rewrite Rmult_0_l, exp_0|].
    rewrite S_INR, Rmult_plus_distr_r, exp_plus, IHk, Rmult_1_l. simpl. ring. }
  rewrite Ee in B. specialize (G3 (exp (Q2R eps)) ltac:(lra)).
  destruct (one_profile_attains As _ G4) as [Ds [s [D1 [D2 D3]]]].
  destruct (composition_from_below As Ds G2 D1 s D2 (exp (Q2R eps)) ltac:(lra)) as [f [Df Vf]].
  exists s. split; [exact D3|]. exists f. split; [exact Df|]. unfold step in *. lra.
Qed.
End Below.

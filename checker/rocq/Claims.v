(* The checker of claims of every measure, at_most and at_least, and the theorem that what it accepts is true. *)
From Coq Require Import Reals Lra Lia ZArith QArith Qreals List Bool.
Import ListNotations.
From DP Require Import Law Profile Compose Grid Fixed Exponential Logarithm Above Tops Finite Kronecker Normal NormalSum Renyi TradeOff Statement Bounds GridRule Checker Moments
  TypeTwo NormalBelow Outcomes BelowRule Measures.
Open Scope R_scope.

Section Claims.
Variable p : positive.
Variable convolve : list Z -> list Z -> list Z.
Hypothesis convolve_correct : forall a b, convolve a b = convolution a b.

(* Rule `renyi`, any order: e^((a - 1)(R - epsilon)) (1 - 1/a)^(a - 1)/a, where R is the sum of all divergences. *)
Definition delta_ends (a x eps : Q) : ends :=
  if Qle_bool a 1 then None else
  exponential p (minus (plus (real p ((a - 1) * (x - eps))%Q) (times p (real p (a - 1)%Q) (logarithm p (real p ((a - 1) / a)%Q))))
                       (logarithm p (real p a))).

Lemma one_below a : Qle_bool a 1 = false -> 1 < Q2R a.
Proof.
  intro H. assert (1 < a)%Q as L by (apply Qnot_le_lt; intro L; apply Qle_bool_iff in L; congruence).
  apply Qlt_Rlt in L. replace (Q2R 1) with 1 in L by (unfold Q2R; simpl; lra). exact L.
Qed.

Lemma delta_ends_hold a x eps : 1 < Q2R a -> holds p (delta_ends a x eps) (delta_of (Q2R a) ((Q2R a - 1) * Q2R x) (Q2R eps)).
Proof.
  intro Ha. unfold delta_ends, delta_of. destruct (Qle_bool a 1); [exact Logic.I|].
  assert (Q2R 1 = 1) as E1 by (unfold Q2R; simpl; lra).
  assert (Q2R ((a - 1) / a) = b (Q2R a)) as Eb.
  { unfold b. rewrite Q2R_div, Q2R_minus, E1; [reflexivity|]. intro Z. apply Qeq_eqR in Z. unfold Q2R at 2 in Z. simpl in Z. lra. }
  assert (exp ((Q2R a - 1) * Q2R x - (Q2R a - 1) * Q2R eps + (Q2R a - 1) * ln (b (Q2R a))) / Q2R a
    = exp (Q2R ((a - 1) * (x - eps)) + Q2R (a - 1) * ln (Q2R ((a - 1) / a)) - ln (Q2R a))) as ->.
  { assert (forall y z, 0 < z -> exp (y - ln z) = exp y / z) as D by (intros y z Hz; unfold Rminus; rewrite exp_plus, exp_Ropp, exp_ln by exact Hz; reflexivity).
    rewrite D, Eb, Q2R_mult, !Q2R_minus, E1 by lra. f_equal. f_equal. ring. }
  apply exponential_holds, minus_holds; [apply plus_holds; [apply real_holds|]|]; [|apply logarithm_holds, real_holds].
  apply times_holds; [apply real_holds | apply logarithm_holds, real_holds].
Qed.

Definition divergence_delta (a : Q) (releases : list release) (eps : Q) : ends :=
  match total_of (divergence_of_mechanism a) releases with Some x => delta_ends a x eps | None => None end.

Theorem divergence_rule_sound o a releases eps bound : at_most p (divergence_delta a releases eps) bound = true ->
  delta_at_most (run_classes (orient o) releases) (Q2R eps) (Q2R bound).
Proof.
  unfold divergence_delta. destruct (total_of _ _) as [x|] eqn:E; [|discriminate]. intros H s Hs f Hf.
  assert (1 < Q2R a) as Ha by (apply one_below; unfold delta_ends in H; destruct (Qle_bool a 1); [discriminate | reflexivity]).
  destruct (divergence_total a o releases x Ha E) as [ms [M1 [M2 M3]]].
  pose proof (renyi_composition (Q2R a) Ha ms _ M1 M2 s Hs f Hf) as C. rewrite M3 in C.
  eapply Rle_trans; [apply (delta_from_renyi (Q2R a) Ha _ (Q2R eps) _ _ (proj1 (mean_second_bounds s f Hf)) C)|].
  apply (at_most_sound p _ _ _) with (2 := H). now apply delta_ends_hold.
Qed.

(* delta at most, by one of the rules. *)
Inductive choice := Derived (how : derivation) | ByDivergence (a : Q).

Definition check_delta (named : bool) (releases : list release) (eps bound : Q) (how : choice) : bool :=
  match how with
  | Derived d => check p convolve named releases eps bound d
  | ByDivergence a => Qle_bool 1 bound || at_most p (divergence_delta a releases eps) bound
  end.

Lemma check_delta_sound named releases eps bound how : check_delta named releases eps bound how = true ->
  private_releases named releases (Q2R eps) (Q2R bound).
Proof.
  destruct how as [d|a]; [now apply check_sound|]. simpl. rewrite orb_true_iff. unfold private_releases. intros [H|H].
  - apply Qle_bool_iff, Qle_Rle in H. replace (Q2R 1) with 1 in H by (unfold Q2R; simpl; lra). destruct named; [split|]; now apply delta_at_most_1.
  - destruct named; [split; [now apply (divergence_rule_sound forward a) | now apply (divergence_rule_sound backward a)]|].
    now apply (divergence_rule_sound unnamed a).
Qed.

(* delta at least: the larger one of both orders. *)
Definition derive_below (o : order) (releases : list release) (eps bound : Q) (how : choice) : bool :=
  match how with
  | Derived CurveRule => at_least p (curve_below p o releases eps) bound
  | Derived (GridRule (Fraction num den) mass_bits nodes (low, high)) =>
      (0 <=? mass_bits)%Z && (mass_bits <=? Zpos p)%Z
      && at_least p (grid_below p convolve num den mass_bits low high o releases nodes eps) bound
  | _ => false
  end.

Theorem derive_below_sound o releases eps bound how : derive_below o releases eps bound how = true ->
  delta_at_least (extreme_classes (orient o) releases) (Q2R eps) (Q2R bound).
Proof.
  destruct how as [[| |[num den] mass_bits nodes [low high]]|a]; simpl; try discriminate.
  - apply curve_below_sound.
  - rewrite !andb_true_iff, !Z.leb_le. intros [[B1 B2] H].
    now apply (grid_below_sound p convolve convolve_correct num den mass_bits low high (conj B1 B2) o releases nodes eps).
Qed.

(* The second error: the largest delta from which the claim follows. *)
Definition delta_for (first eps bound : Q) : option Q :=
  match exponential p (real p eps) with
  | Some (_, x) =>
      let x := Qmake x (2 ^ p) in
      let d := Qred (1 - bound - x * first) in let d' := Qred (1 - first - x * bound) in
      Some (if Qle_bool d d' then d' else d)
  | None => None
  end.

Lemma delta_for_sound first eps bound d : 0 <= Q2R first -> 0 <= Q2R bound -> delta_for first eps bound = Some d ->
  Q2R d <= 1 - Q2R bound - exp (Q2R eps) * Q2R first \/ Q2R d <= 1 - Q2R first - exp (Q2R eps) * Q2R bound.
Proof.
  intros H0 H1. unfold delta_for. pose proof (exponential_holds p _ _ (real_holds p eps)) as H.
  destruct (exponential p (real p eps)) as [[a x]|]; [|discriminate]. cbv zeta. intro E. destruct H as [_ H].
  assert (exp (Q2R eps) <= Q2R (Qmake x (2 ^ p))) as Hx.
  { unfold Q2R. cbn [Qnum Qden]. rewrite Pos2Z.inj_pow. fold (one p). pose proof (one_posR p).
    apply Rmult_le_reg_r with (IZR (one p)); [assumption|].
    replace (IZR x * / IZR (one p) * IZR (one p)) with (IZR x) by (field; lra). exact H. }
  assert (Q2R 1 = 1) as E1 by (unfold Q2R; simpl; lra).
  inversion E as [E']. destruct (Qle_bool _ _); [right | left];
    rewrite (Qeq_eqR _ _ (Qred_correct _)), !Q2R_minus, Q2R_mult, E1; nra.
Qed.

(* Rule `sum` for mu: the squares of the Gaussian releases add up. *)
Definition mu_rule (releases : list release) (bound : Q) : bool :=
  match releases, all_squares releases with
  | _ :: _, Some square => Qle_bool 0 bound && Qle_bool square (bound * bound)
  | _, _ => false
  end.

Theorem mu_rule_sound o releases bound : mu_rule releases bound = true -> mu_at_most (run_classes (orient o) releases) (Q2R bound).
Proof.
  unfold mu_rule. destruct releases as [|r rest]; [discriminate|]. destruct (all_squares _) as [q|] eqn:E; [|discriminate].
  rewrite andb_true_iff. intros [B0 B1]. apply Q2R_nonneg in B0. apply Qle_bool_iff, Qle_Rle in B1. rewrite Q2R_mult in B1.
  destruct (all_squares_sound o _ q E) as [l [L1 [L2 L3]]]. assert (l <> []) as L4 by (apply L3; discriminate).
  pose proof (squares_pos l _ L1 L4) as Hp. assert (0 < sqrt (squares l)) as Hr by now apply sqrt_lt_R0.
  assert (sqrt (squares l) <= Q2R bound) as Hb.
  { rewrite <- (sqrt_square (Q2R bound)) by assumption. apply sqrt_le_1_alt. rewrite L2. exact B1. }
  intros s Hs f Hf. apply trade_off_from_curve; [lra|]. intros x Hx.
  eapply Rle_trans; [apply (gaussian_sessions s l _ L1 L4 Hs f Hf x Hx)|]. apply curve_rises; [split; assumption | exact Hx].
Qed.

Definition mu_below (releases : list release) (bound : Q) : bool :=
  match releases, all_squares releases with _ :: _, Some square => Qle_bool (bound * bound) square | _, _ => false end.

Theorem mu_below_sound releases bound : mu_below releases bound = true -> mu_at_least (extreme_classes (fun C => C) releases) (Q2R bound).
Proof.
  unfold mu_below. destruct releases as [|r rest]; [discriminate|]. destruct (all_squares _) as [q|] eqn:E; [|discriminate].
  intro H. apply Qle_bool_iff, Qle_Rle in H. rewrite Q2R_mult in H. destruct (all_squares_attained _ q E) as [l [L1 [L2 [L3 L4]]]].
  intros mu Hmu. exists (gauss_session l). split; [now apply gauss_session_attains|]. apply no_smaller_mu; [exact L1 | now apply L4|].
  apply Rlt_le_trans with (Q2R bound); [exact Hmu|]. unfold root_of. rewrite L3. apply Rle_trans with (sqrt (Q2R bound * Q2R bound)).
  - destruct (Rle_dec 0 (Q2R bound)); [rewrite sqrt_square by assumption; lra|]. pose proof (sqrt_pos (Q2R bound * Q2R bound)). lra.
  - now apply sqrt_le_1_alt.
Qed.

Definition check_most (named : bool) (releases : list release) (m : measure) (bound : Q) (how : choice) : bool :=
  match m with
  | Delta epsilon => check_delta named releases epsilon bound how
  | Rho => match total_of rho_of_mechanism releases with Some rho => Qle_bool rho bound | None => false end
  | RenyiDivergence a =>
      match total_of (divergence_of_mechanism a) releases with
      | Some x => negb (Qle_bool a 1) && Qle_bool x bound
      | None => false
      end
  | SecondError _ => false
  | Mu => mu_rule releases bound
  end.

Definition check_least (named one_pair : bool) (releases : list release) (m : measure) (bound : Q) (epsilon : Q) (how : choice) : bool :=
  match m with
  | Delta epsilon =>
      (one_pair || (runs_of releases =? 1)%Z)
      && (derive_below forward releases epsilon bound how || derive_below backward releases epsilon bound how)
  | SecondError first =>
      Qle_bool 0 first && Qle_bool 0 bound
      && match delta_for first epsilon bound with Some d => check_delta named releases epsilon d how | None => false end
  | Mu => (one_pair || (runs_of releases =? 1)%Z) && mu_below releases bound
  | _ => false
  end.

Lemma all_orders_intro named releases (holds_for : list class -> Prop) : (forall o, holds_for (run_classes (orient o) releases)) ->
  all_orders named releases holds_for.
Proof. intro H. unfold all_orders. destruct named; [split; [apply (H forward) | apply (H backward)] | apply (H unnamed)]. Qed.

Theorem check_most_sound named releases m bound how : check_most named releases m bound how = true ->
  claim_at_most named releases m (Q2R bound).
Proof.
  destruct m as [epsilon| |a|first|]; simpl.
  - apply check_delta_sound.
  - destruct (total_of rho_of_mechanism releases) as [rho|] eqn:E; [|discriminate]. intro H. apply Qle_bool_iff, Qle_Rle in H.
    apply all_orders_intro. intro o. now apply (rho_sum_sound o releases rho).
  - destruct (total_of (divergence_of_mechanism a) releases) as [x|] eqn:E; [|discriminate]. rewrite andb_true_iff, negb_true_iff. intros [Ha H].
    apply Qle_bool_iff, Qle_Rle in H. apply all_orders_intro. intro o. apply (divergence_sum_sound o releases a x); auto.
    now apply one_below.
  - discriminate.
  - intro H. apply all_orders_intro. intro o. now apply mu_rule_sound.
Qed.

Lemma swapped_classes (C D : class -> class) releases : (forall K Y P Q, C K Y P Q -> D K Y Q P) ->
  Forall2 (fun C D : class => forall Y P Q, C Y P Q -> D Y Q P) (run_classes C releases) (run_classes D releases).
Proof.
  intro H. unfold run_classes. induction releases as [|r releases IH]; simpl; [constructor|]. apply Forall2_app; [|exact IH].
  induction (Pos.to_nat (count r)) as [|k IHk]; simpl; constructor; [intros Y P Q; apply H | exact IHk].
Qed.

Theorem check_least_sound named one_pair releases m bound epsilon how :
  check_least named one_pair releases m bound epsilon how = true -> claim_at_least named one_pair releases m (Q2R bound).
Proof.
  destruct m as [eps| |a|first|]; simpl; try discriminate.
  - rewrite andb_true_iff, !orb_true_iff. intros [H1 H2]. split.
    + destruct H1 as [H1|H1]; [now left | right; now apply Z.eqb_eq].
    + destruct H2 as [H2|H2]; [left | right]; [now apply (derive_below_sound forward releases eps bound how) | now apply (derive_below_sound backward releases eps bound how)].
  - rewrite !andb_true_iff. intros [[F0 B0] H]. apply Q2R_nonneg in F0, B0.
    destruct (delta_for first epsilon bound) as [d|] eqn:E; [|discriminate].
    pose proof (delta_for_sound first epsilon bound d F0 B0 E) as D. apply check_delta_sound in H.
    unfold private_releases, all_orders in *. destruct named.
    + destruct H as [H1 H2]. split.
      * apply (second_error_from_delta _ (run_classes reversed releases) (Q2R epsilon) (Q2R d)); auto. now apply swapped_classes.
      * apply (second_error_from_delta _ (run_classes (fun C => C) releases) (Q2R epsilon) (Q2R d)); auto. now apply swapped_classes.
    + apply (second_error_from_delta _ (run_classes Finite.either releases) (Q2R epsilon) (Q2R d)); auto.
      apply swapped_classes. intros K Y P Q [HK|HK]; [now right | now left].
  - rewrite andb_true_iff, orb_true_iff. intros [H1 H2]. split; [destruct H1 as [H1|H1]; [now left | right; now apply Z.eqb_eq]|].
    left. now apply mu_below_sound.
Qed.
End Claims.

(* In the kernel, with BigZ; and in the program, with Z. *)
Definition kernel_most (p : positive) := check_most p convolution_big.
Definition kernel_least (p : positive) := check_least p convolution_big.
Definition program_most (p : positive) := check_most p convolution_Z.
Definition program_least (p : positive) := check_least p convolution_Z.

Theorem kernel_most_sound p named releases m bound how : kernel_most p named releases m bound how = true -> claim_at_most named releases m (Q2R bound).
Proof. apply check_most_sound. exact convolution_big_correct. Qed.
Theorem kernel_least_sound p named one_pair releases m bound epsilon how :
  kernel_least p named one_pair releases m bound epsilon how = true -> claim_at_least named one_pair releases m (Q2R bound).
Proof. apply check_least_sound. exact convolution_big_correct. Qed.
Theorem program_most_sound p named releases m bound how : program_most p named releases m bound how = true -> claim_at_most named releases m (Q2R bound).
Proof. apply check_most_sound. exact convolution_Z_correct. Qed.
Theorem program_least_sound p named one_pair releases m bound epsilon how :
  program_least p named one_pair releases m bound epsilon how = true -> claim_at_least named one_pair releases m (Q2R bound).
Proof. apply check_least_sound. exact convolution_Z_correct. Qed.

(* The curve of Gaussian noise as the checker computes it. *)
From Coq Require Import Reals Lra Lia ZArith List Bool.
From Coquelicot Require Import Coquelicot.
From DP Require Import Law Profile Compose Countable Fixed Exponential Logarithm Above Tops Line Moves Normal.
Open Scope R_scope.

(* The area from 0 to c is c e^(-c^2/2) S_0, with S_k = e^(c^2/2) times the integral of s^(2k) e^(-c^2 s^2/2) from 0 to 1.
   By parts, (2k + 1) S_k = 1 + c^2 S_(k+1): so S_0 = 1 + c^2/3 (1 + c^2/5 (1 + ...)), and 0 <= S_k <= e^(c^2/2). *)
Definition part (k : nat) (c s : R) : R := s ^ (2 * k) * bell (c * s).
Definition ratio_of_area (k : nat) (c : R) : R := / bell c * RInt (part k c) 0 1.

Lemma part_integrable k c : integrable (part k c).
Proof.
  intros a b. apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros t _.
  apply (ex_derive_continuous (V := R_NormedModule)). unfold part, bell. auto_derive. exact Logic.I.
Qed.

Lemma area_ratio c : area_of gauss c = c * bell c * ratio_of_area 0 c.
Proof.
  assert (area_of gauss c = RInt (fun s => c * part 0 c s) 0 1) as ->.
  { unfold area_of. pose proof (RInt_comp_lin bell c 0 0 1) as E. rewrite Rmult_0_r, Rmult_1_r, !Rplus_0_r in E.
    change (height gauss) with bell. rewrite <- E by apply bell_integrable. apply RInt_ext. intros s _.
    unfold part, scal. simpl. unfold mult. simpl. rewrite Rplus_0_r, Rmult_1_l. reflexivity. }
  rewrite integral_scale by apply part_integrable. unfold ratio_of_area. pose proof (bell_pos c). field. lra.
Qed.

Lemma ratio_step k c : (2 * INR k + 1) * ratio_of_area k c = 1 + c * c * ratio_of_area (S k) c.
Proof.
  assert (is_RInt (fun s => (2 * INR k + 1) * part k c s + - (c * c) * part (S k) c s) 0 1 (bell c)) as H.
  { replace (bell c) with (Hierarchy.minus (1 ^ (2 * k + 1) * bell (c * 1)) (0 ^ (2 * k + 1) * bell (c * 0)) : R).
    2: { rewrite pow1, pow_i, Rmult_1_r by lia. unfold Hierarchy.minus, Hierarchy.plus, Hierarchy.opp. simpl. ring. }
    apply (is_RInt_derive (fun s => s ^ (2 * k + 1) * bell (c * s))).
    - intros s _. unfold part, bell. auto_derive; [exact Logic.I|]. change (c * s * (c * s) / 2) with (c * s * (c * s) * / 2).
      replace (k + (k + 0) + 1)%nat with (S (2 * k)) by lia. replace (2 * S k)%nat with (S (S (2 * k))) by lia.
      rewrite S_INR, mult_INR. cbn [Init.Nat.pred]. rewrite <- !tech_pow_Rmult. change (INR 2) with 2. set (e := exp _). set (z := s ^ _). field.
    - intros s _. apply (ex_derive_continuous (V := R_NormedModule)). unfold part, bell. auto_derive. exact Logic.I. }
  apply (is_RInt_unique (V := R_CompleteNormedModule)) in H. rewrite integral_plus, !integral_scale in H by auto using integrable_scale, part_integrable.
  unfold ratio_of_area. pose proof (bell_pos c). set (u := RInt (part k c) 0 1 : R) in *. set (v := RInt (part (S k) c) 0 1 : R) in *.
  change ((2 * INR k + 1) * u + - (c * c) * v = bell c) in H.
  replace ((2 * INR k + 1) * (/ bell c * u)) with (/ bell c * ((2 * INR k + 1) * u)) by ring.
  replace ((2 * INR k + 1) * u) with (bell c + c * c * v) by lra. field. lra.
Qed.

Lemma unit_integral (v : R) : RInt (fun _ => v) 0 1 = v.
Proof. rewrite RInt_const. unfold scal. simpl. unfold mult. simpl. ring. Qed.

Lemma ratio_bounds k c : c * c <= 2 * INR k -> 0 <= ratio_of_area k c <= 1.
Proof.
  intro Hk. pose proof (bell_pos c) as Hb. assert (0 < / bell c) by now apply Rinv_0_lt_compat.
  assert (forall s, 0 < s < 1 -> 0 <= part k c s /\ part (S k) c s <= part k c s) as B.
  { intros s Hs. unfold part. pose proof (bell_pos (c * s)). assert (0 <= s ^ (2 * k)) by (apply pow_le; lra).
    replace (2 * S k)%nat with (S (S (2 * k))) by lia. rewrite <- !tech_pow_Rmult. split; [nra|].
    apply Rmult_le_compat_r; [lra|]. assert (s * s <= 1) by nra. nra. }
  assert (0 <= ratio_of_area k c) as H0.
  { apply Rmult_le_pos; [lra|]. apply Rle_trans with (RInt (fun _ => 0) 0 1); [rewrite unit_integral; lra|].
    apply RInt_le; [lra | apply (ex_RInt_const (V := R_NormedModule)) | apply part_integrable | intros; now apply B]. }
  assert (ratio_of_area (S k) c <= ratio_of_area k c) as H1.
  { apply Rmult_le_compat_l; [lra|]. apply RInt_le; [lra | apply part_integrable | apply part_integrable | intros; now apply B]. }
  split; [exact H0|]. pose proof (ratio_step k c) as E. nra.
Qed.

Section NormalTop.
Variable p : positive.

Lemma over_nat_here u n x : holds p u x -> holds p (over_nat u n) (x / IZR (Zpos n)).
Proof.
  destruct u as [[a b]|]; simpl; auto. intros [H1 H2]. assert (0 < IZR (Zpos n)) by now apply IZR_lt.
  pose proof (down_div_le a (Zpos n) eq_refl). pose proof (up_div_ge b (Zpos n) eq_refl).
  split; apply Rmult_le_reg_r with (IZR (Zpos n)); try assumption;
    replace (x / IZR (Zpos n) * IZR (one p) * IZR (Zpos n)) with (x * IZR (one p)) by (field; lra); lra.
Qed.

(* S_k from S_(k + terms), with d = 2k + 1 *)
Fixpoint ratio_ends (terms : nat) (d : positive) (square last : ends) : ends :=
  match terms with
  | O => last
  | S n => over_nat (plus (whole p 1) (times p square (ratio_ends n (d + 2) square last))) d
  end.

Lemma ratio_ends_holds c square last : holds p square (c * c) -> forall terms k, holds p last (ratio_of_area (k + terms) c) ->
  holds p (ratio_ends terms (Pos.of_nat (2 * k + 1)) square last) (ratio_of_area k c).
Proof.
  intros Hs terms. induction terms as [|n IH]; intros k Hl; cbn [ratio_ends]; [now rewrite Nat.add_0_r in Hl|].
  assert (IZR (Zpos (Pos.of_nat (2 * k + 1))) = 2 * INR k + 1) as E.
  { rewrite <- positive_nat_Z, <- INR_IZR_INZ, Nat2Pos.id, plus_INR, mult_INR by lia. reflexivity. }
  pose proof (pos_INR k). replace (ratio_of_area k c) with ((1 + c * c * ratio_of_area (S k) c) / IZR (Zpos (Pos.of_nat (2 * k + 1)))).
  - apply over_nat_here, plus_holds; [apply (whole_holds p 1)|]. apply times_holds; [exact Hs|].
    replace (Pos.of_nat (2 * k + 1) + 2)%positive with (Pos.of_nat (2 * S k + 1)) by lia. apply IH.
    now replace (S k + n)%nat with (k + S n)%nat by lia.
  - rewrite <- ratio_step, E. field. lra.
Qed.

(* Beyond this number the area is all but 2^-p of the whole. *)
Definition far : positive := Z.to_pos (1 + Z.sqrt (Zpos p * 3 / 2)).

(* How many factors c^2/d, d = 1, 3, 5, ..., make r less than 1; square is above 2^8 c^2. *)
Fixpoint factors (most : nat) (square d r : Z) : nat :=
  match most with
  | O => O
  | S n => if (r <=? 0)%Z then O else S (factors n square (d + 2) (r * square / (256 * d))%Z)
  end.

(* e^(c^2/2), a number that is not small, and so has as many digits as the precision. *)
Definition growth (square : ends) : ends := exponential p (over_nat square 2).
Lemma growth_holds square c : holds p square (c * c) -> holds p (growth square) (/ bell c).
Proof.
  intro H. unfold growth, bell. rewrite <- exp_Ropp, Ropp_involutive. now apply exponential_holds, over_nat_here.
Qed.

(* The area from 0 to c, for w = e^(c^2/2). *)
Definition area_ends (c square w : ends) : ends :=
  match square, over p (whole p 1) w with
  | Some (_, s), Some (_, b) =>
      let s := (Z.shiftr s (Zpos p - 8) + 1)%Z in
      let terms := Nat.max (Z.to_nat (s / 512 + 1)) (factors (Z.to_nat (4 * Zpos p)) s 1 b) in
      if (s <=? 512 * Z.of_nat terms)%Z && (8 <? p)%positive
      then times p c (over p (ratio_ends terms 1 square (Some (0%Z, one p))) w) else None
  | _, _ => None
  end.

Lemma area_ends_holds u square w c : holds p u c -> holds p square (c * c) -> holds p w (/ bell c) ->
  holds p (area_ends u square w) (area_of gauss c).
Proof.
  intros Hu Hs Hw. unfold area_ends. destruct square as [[s' s]|] eqn:Es; [|exact Logic.I].
  destruct (over p (whole p 1) w) as [[b' b]|]; [|exact Logic.I]. rewrite <- Es in *. cbv zeta.
  set (t := (Z.shiftr s (Zpos p - 8) + 1)%Z). set (terms := Nat.max _ _).
  destruct (Z.leb_spec t (512 * Z.of_nat terms)) as [L|]; [|exact Logic.I]. destruct (Pos.ltb_spec 8 p) as [L8|]; [|exact Logic.I]. cbn [andb].
  pose proof (bell_pos c) as Hb. rewrite area_ratio. replace (c * bell c * ratio_of_area 0 c) with (c * (ratio_of_area 0 c / / bell c)) by (field; lra).
  apply times_holds; [exact Hu|]. apply over_holds; [|exact Hw].
  apply (ratio_ends_holds c _ _ Hs) with (k := 0%nat). simpl (0 + terms)%nat.
  assert (0 <= ratio_of_area terms c <= 1) as [R1 R2]; [|pose proof (one_posR p); simpl; nra].
  apply ratio_bounds. rewrite INR_IZR_INZ. apply IZR_le in L. rewrite mult_IZR in L.
  assert (IZR s <= IZR t * IZR (2 ^ (Zpos p - 8))) as B.
  { rewrite <- mult_IZR. apply IZR_le. unfold t. rewrite Z.shiftr_div_pow2 by lia.
    assert (0 < 2 ^ (Zpos p - 8))%Z as P by (apply Z.pow_pos_nonneg; lia). pose proof (Z.mul_succ_div_gt s _ P). lia. }
  rewrite Es in Hs. simpl in Hs. assert (0 < IZR (2 ^ (Zpos p - 8))) as P by (apply IZR_lt, Z.pow_pos_nonneg; lia).
  assert (IZR (one p) = 256 * IZR (2 ^ (Zpos p - 8))) as E.
  { change 256 with (IZR (2 ^ 8)). rewrite <- mult_IZR, <- Z.pow_add_r by lia. unfold one. f_equal. f_equal. lia. }
  rewrite E in Hs. apply Rmult_le_reg_r with (256 * IZR (2 ^ (Zpos p - 8))); [lra|]. nra.
Qed.

(* What is beyond c >= 1, where w = e^(c^2/2): at most 1/w. *)
Definition beyond (w : ends) : ends :=
  match over p (whole p 1) w with Some (_, b) => Some (0%Z, b) | None => None end.
Lemma beyond_holds w c e : holds p w (/ bell c) -> 0 <= e <= bell c -> holds p (beyond w) e.
Proof.
  intros Hw He. pose proof (over_holds p _ _ _ _ (whole_holds p 1) Hw) as H. pose proof (bell_pos c).
  replace (1 / / bell c) with (bell c) in H by (field; lra).
  unfold beyond. destruct (over p (whole p 1) w) as [[b' b]|]; [|exact Logic.I]. pose proof (one_posR p). simpl in *. nra.
Qed.

Definition growth_far : ends := growth (whole p (Zpos far * Zpos far)).
Definition beyond_far : ends := beyond growth_far.

(* The area from 0 on. *)
Definition half_area_ends : ends :=
  plus (area_ends (whole p (Zpos far)) (whole p (Zpos far * Zpos far)) growth_far) beyond_far.

Lemma far_bounds c : 1 <= c -> 0 <= half_area gauss - area_of gauss c <= bell c.
Proof.
  intro Hc. pose proof (half_area_far c ltac:(lra)) as H. pose proof (area_below gauss c). pose proof (bell_pos c) as Hb.
  change (gauss c / c) with (bell c / c) in H. assert (bell c / c <= bell c); [|lra].
  apply Rmult_le_reg_r with c; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
Qed.

Lemma far_square : holds p (whole p (Zpos far * Zpos far)) (IZR (Zpos far) * IZR (Zpos far)).
Proof. rewrite <- mult_IZR. apply (whole_holds p (Zpos far * Zpos far)). Qed.

Lemma beyond_far_holds c e : IZR (Zpos far) <= c -> 0 <= e <= bell c -> holds p beyond_far e.
Proof.
  intros Hc He. apply (beyond_holds _ _ _ (growth_holds _ _ far_square)). split; [apply He|]. eapply Rle_trans; [apply He|].
  assert (1 <= IZR (Zpos far)) by (apply IZR_le; lia). unfold bell.
  assert (- (c * c / 2) <= - (IZR (Zpos far) * IZR (Zpos far) / 2)) as [L| ->] by nra; [left; now apply exp_increasing | lra].
Qed.

Lemma half_area_holds : holds p half_area_ends (half_area gauss).
Proof.
  pose proof far_square as Hs. pose proof (growth_holds _ _ Hs) as Hw.
  replace (half_area gauss) with (area_of gauss (IZR (Zpos far)) + (half_area gauss - area_of gauss (IZR (Zpos far)))) by ring.
  apply plus_holds; [exact (area_ends_holds _ _ _ _ (whole_holds p (Zpos far)) Hs Hw)|].
  apply (beyond_far_holds (IZR (Zpos far))); [lra|]. apply far_bounds, IZR_le. lia.
Qed.

(* The area from 0 to c for every c: from far on, all but what is beyond. *)
Definition any_area_ends (half c w : ends) : ends :=
  match c with
  | Some (a, b) =>
      if (Zpos far * one p <=? a)%Z then minus half beyond_far
      else if (b <=? - (Zpos far * one p))%Z then minus beyond_far half
      else area_ends c (times p c c) w
  | None => None
  end.

Lemma any_area_holds half u w c : holds p half (half_area gauss) -> holds p u c -> holds p w (/ bell c) ->
  holds p (any_area_ends half u w) (area_of gauss c).
Proof.
  intros Hh Hu Hw. pose proof (times_holds p _ _ _ _ Hu Hu) as Hs. unfold any_area_ends.
  destruct u as [[a b]|] eqn:Eu; [|exact Logic.I]. rewrite <- Eu in *. pose proof (one_posR p) as Ho.
  assert (1 <= IZR (Zpos far)) by (apply IZR_le; lia).
  destruct (Z.leb_spec (Zpos far * one p) a) as [L|L].
  - assert (IZR (Zpos far) <= c) as Hc.
    { rewrite Eu in Hu. simpl in Hu. apply IZR_le in L. rewrite mult_IZR in L. apply Rmult_le_reg_r with (IZR (one p)); nra. }
    replace (area_of gauss c) with (half_area gauss - (half_area gauss - area_of gauss c)) by ring.
    apply minus_holds; [exact Hh|]. apply (beyond_far_holds c); [exact Hc | apply far_bounds; lra].
  - destruct (Z.leb_spec b (- (Zpos far * one p))) as [M|M]; [|now apply area_ends_holds].
    assert (IZR (Zpos far) <= - c) as Hc.
    { rewrite Eu in Hu. simpl in Hu. apply IZR_le in M. rewrite opp_IZR, mult_IZR in M. apply Rmult_le_reg_r with (IZR (one p)); nra. }
    pose proof (far_bounds (- c) ltac:(lra)) as F. rewrite (area_odd gauss c) in F.
    replace (area_of gauss c) with ((half_area gauss - - area_of gauss c) - half_area gauss) by ring.
    apply minus_holds; [|exact Hh]. now apply (beyond_far_holds (- c)).
Qed.

(* The probability of what is above c, where w = e^(c^2/2) and twice is 1 over the whole area. *)
Definition tail_ends (half twice c w : ends) : ends := minus (ratio p 1 2) (times p (any_area_ends half c w) twice).

Lemma tail_ends_holds half u w c : holds p half (half_area gauss) -> holds p u c -> holds p w (/ bell c) ->
  holds p (tail_ends half (over p (whole p 1) (plus half half)) u w) (tail gauss c).
Proof.
  intros Hh Hu Hw. unfold tail_ends, tail. pose proof (half_pos gauss).
  replace (/ 2 - area_of gauss c / (2 * half_area gauss)) with (1 / IZR 2 - area_of gauss c * (1 / (half_area gauss + half_area gauss))) by (field; lra).
  apply minus_holds; [apply (ratio_holds p 1 2)|]. apply times_holds; [now apply any_area_holds|].
  apply over_holds; [apply (whole_holds p 1) | now apply plus_holds].
Qed.

(* The curve at x: y is near ln x, and the curve falls by at most e^y - x from x to e^y. *)
Definition gauss_at (half twice mu over_mu y e : ends) : ends :=
  let c := plus (times p y over_mu) (over_nat mu 2) in
  let a := minus c mu in
  let w := growth (times p a a) in
  minus (tail_ends half twice a w) (times p e (tail_ends half twice c (times p w e))).

Definition gauss_top (mu : ends) : top :=
  let half := half_area_ends in
  let twice := over p (whole p 1) (plus half half) in
  let over_mu := over p (whole p 1) mu in
  fun X =>
    match X with
    | Some (x, _) =>
        let y := exactly (guess p x) in
        let e := exponential p y in
        upper_end (plus (gauss_at half twice mu over_mu y e) (positive_part (minus e X)))
    | None => None
    end.

Lemma gauss_at_holds half u v y e mu z : 0 < mu -> holds p half (half_area gauss) -> holds p u mu -> holds p v (1 / mu) ->
  holds p y z -> holds p e (exp z) ->
  holds p (gauss_at half (over p (whole p 1) (plus half half)) u v y e) (gauss_curve mu (exp z)).
Proof.
  intros Hm Hh Hu Hv Hy He. unfold gauss_at, gauss_curve. rewrite ln_exp. set (c := z / mu + mu / 2). pose proof (exp_pos z) as Hz.
  assert (holds p (plus (times p y v) (over_nat u 2)) c) as Hc.
  { unfold c. apply plus_holds; [|now apply (over_nat_here u 2)]. replace (z / mu) with (z * (1 / mu)) by (field; lra). now apply times_holds. }
  pose proof (minus_holds p _ _ _ _ Hc Hu) as Ha. set (a := c - mu) in *.
  pose proof (growth_holds _ _ (times_holds p _ _ _ _ Ha Ha)) as Hw.
  assert (/ bell c = / bell a * exp z) as Ec.
  { unfold a. rewrite bell_move. replace (mu * c - mu * mu / 2) with z by (unfold c; field; lra). pose proof (bell_pos c). field. lra. }
  pose proof (times_holds p _ _ _ _ Hw He) as Hw'. rewrite <- Ec in Hw'.
  apply minus_holds; [now apply tail_ends_holds|]. apply times_holds; [exact He | now apply tail_ends_holds].
Qed.

Theorem tops_gauss u mu sigma : 0 < mu -> 0 < sigma -> holds p u mu -> tops p (gauss_top u) (moved_gaussian sigma (mu * sigma)).
Proof.
  intros Hm Hs Hu X x t HX Hx. unfold gauss_top. destruct X as [[x1 x2]|] eqn:EX; [|discriminate]. rewrite <- EX in *.
  set (y := guess p x1). set (e := exponential p (exactly y)). intros Ht Y P Q HC f Pf Qf.
  pose proof (exactly_holds p y) as Hy. pose proof (exponential_holds p _ _ Hy) as He. fold e in He. set (z := real_of p y) in *.
  pose proof (over_holds p _ _ _ _ (whole_holds p 1) Hu) as Hv.
  pose proof (gauss_at_holds _ u _ _ _ mu z Hm half_area_holds Hu Hv Hy He) as G.
  eapply Rle_trans; [|apply (upper_end_ge p _ _ _ (plus_holds p _ _ _ _ G (positive_part_holds p _ _ (minus_holds p _ _ _ _ He HX))) Ht)].
  pose proof (gaussian_below mu sigma (exp z) Hm Hs (exp_pos z) Y P Q HC f Pf Qf) as B.
  pose proof (mean_bounds Q f Qf). pose proof (Rmax_l 0 (exp z - x)). pose proof (Rmax_r 0 (exp z - x)). nra.
Qed.

(* So the top is above the curve itself. *)
Theorem gauss_top_above u mu X x t : 0 < mu -> holds p u mu -> holds p X x -> 0 < x -> gauss_top u X = Some t -> gauss_curve mu x <= real_of p t.
Proof.
  intros Hm Hu HX Hx Ht. set (c := ln x / mu + mu / 2).
  assert (moved_gaussian 1 (mu * 1) R (gaussian 1 mu) (gaussian 1 0)) as HC by (constructor; rewrite Rminus_0_r, Rmult_1_r, Rabs_pos_eq; lra).
  assert (forall v, (fun z => half_line c (v + 1 * z)) = half_line (c - v)) as E.
  { intro v. rewrite <- half_line_move. apply FunctionalExtensionality.functional_extensionality. intro z. f_equal. ring. }
  assert (forall v, test (gaussian 1 v) (half_line c)) as T.
  { intro v. split; [|apply half_line_bounds]. change (measurable (line gauss) (fun z => half_line c (v + 1 * z))). rewrite E. apply half_line_test. }
  assert (forall v, mean (gaussian 1 v) (half_line c) = tail gauss (c - v)) as M.
  { intro v. rewrite <- tail_mean, <- E. reflexivity. }
  pose proof (tops_gauss u mu 1 Hm Rlt_0_1 Hu X x t HX Hx Ht _ _ _ HC _ (T mu) (T 0)) as B.
  rewrite !M, Rminus_0_r in B. exact B.
Qed.

Definition root (u : ends) : ends :=
  match u with
  | Some (a, b) => if (0 <=? a)%Z then Some (Z.sqrt (a * one p), Z.sqrt (b * one p) + 1)%Z else None
  | None => None
  end.
Lemma root_holds u x : holds p u x -> holds p (root u) (sqrt x).
Proof.
  destruct u as [[a b]|]; [|auto]. intros [H1 H2]. unfold root. destruct (Z.leb_spec 0 a) as [Ha|]; [|exact Logic.I].
  pose proof (one_posR p) as Ho. assert (0 <= IZR a) as Ha' by now apply IZR_le.
  assert (0 <= x) as Hx by (apply Rmult_le_reg_r with (IZR (one p)); lra).
  assert (0 <= b)%Z as Hb by (apply le_IZR; lra). pose proof (one_pos p) as Ho'.
  pose proof (Z.sqrt_spec (a * one p) ltac:(nia)) as [S1 _]. pose proof (Z.sqrt_spec (b * one p) ltac:(nia)) as [_ S2].
  apply IZR_le in S1. apply IZR_lt in S2. rewrite !mult_IZR in S1, S2. rewrite succ_IZR in S2.
  pose proof (Z.sqrt_nonneg (a * one p)) as N1. apply IZR_le in N1. pose proof (Z.sqrt_nonneg (b * one p)) as N2. apply IZR_le in N2.
  pose proof (sqrt_pos x) as Sp. pose proof (sqrt_sqrt x Hx) as Sq. cbn [holds]. rewrite plus_IZR.
  set (r := sqrt x) in *. set (A := IZR (Z.sqrt (a * one p))) in *. set (B := IZR (Z.sqrt (b * one p))) in *. set (o := IZR (one p)) in *.
  assert (0 <= r * o) by nra. assert (r * o * (r * o) = x * o * o) as E by (rewrite <- Sq; ring).
  split; apply Rsqr_incr_0; unfold Rsqr; try lra; rewrite E; nra.
Qed.
End NormalTop.

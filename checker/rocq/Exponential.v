(* e^x as the checker computes it: Taylor's series for y = x/2^k < 2^-8, squared k times, and e^-x = 1/e^x. *)
From Coq Require Import Reals Lra Lia ZArith Bool.
From Coquelicot Require Import Coquelicot.
From DP Require Import Fixed.
Open Scope R_scope.

(* E_n = 1 + y/(n+1) + y^2/((n+1)(n+2)) + ..., so that e^y = E_0 and E_n = 1 + y/(n+1) E_(n+1). *)
Definition term (y : R) (n i : nat) : R := y ^ i * (INR (fact n) / INR (fact (n + i))).
Definition rest (y : R) (n : nat) : R := Series (term y n).

Lemma fact_pos n : 0 < INR (fact n).
Proof. apply lt_0_INR, lt_O_fact. Qed.

Lemma fact_product n i : INR (fact n) * INR (fact i) <= INR (fact (n + i)).
Proof.
  rewrite <- mult_INR. apply le_INR. induction i as [|i IH]; [rewrite Nat.add_0_r; simpl; lia|].
  rewrite Nat.add_succ_r. simpl fact. pose proof (lt_O_fact (n + i)). nia.
Qed.

Lemma term_bounds y n i : 0 <= y -> 0 <= term y n i <= y ^ i * / INR (fact i).
Proof.
  intro Hy. pose proof (pow_le y i Hy). pose proof (fact_pos n). pose proof (fact_pos i). pose proof (fact_pos (n + i)). unfold term. split.
  - apply Rmult_le_pos; [assumption|]. apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat].
  - apply Rmult_le_compat_l; [assumption|]. apply Rmult_le_reg_r with (INR (fact (n + i)) * INR (fact i)); [nra|].
    replace (INR (fact n) / INR (fact (n + i)) * (INR (fact (n + i)) * INR (fact i))) with (INR (fact n) * INR (fact i)) by (field; lra).
    replace (/ INR (fact i) * (INR (fact (n + i)) * INR (fact i))) with (INR (fact (n + i))) by (field; lra). apply fact_product.
Qed.

Lemma exp_series y : is_series (fun i => y ^ i * / INR (fact i)) (exp y).
Proof.
  pose proof (is_exp_Reals y) as H. unfold is_pseries in H. eapply is_series_ext; [|exact H]. intro n. unfold scal. simpl. unfold mult. simpl.
  now rewrite pow_n_pow.
Qed.

Lemma term_summable y n : 0 <= y -> ex_series (term y n).
Proof.
  intro Hy. apply (ex_series_le (K := R_AbsRing) (V := R_CompleteNormedModule)) with (b := fun i => y ^ i * / INR (fact i)).
  - intro i. destruct (term_bounds y n i Hy). change (Rabs (term y n i) <= y ^ i * / INR (fact i)). now rewrite Rabs_pos_eq.
  - exists (exp y). apply exp_series.
Qed.

Lemma rest_0 y : rest y 0 = exp y.
Proof.
  apply is_series_unique. apply (is_series_ext (fun i => y ^ i * / INR (fact i))); [|apply exp_series].
  intro i. unfold term. simpl. lra.
Qed.

Lemma rest_next y n : 0 <= y -> rest y n = 1 + y * rest y (S n) / INR (S n).
Proof.
  intro Hy. unfold rest. rewrite Series_incr_1 by now apply term_summable.
  rewrite (Series_ext (fun i => term y n (S i)) (fun i => y / INR (S n) * term y (S n) i)).
  - rewrite Series_scal_l. unfold term at 1. rewrite Nat.add_0_r. simpl pow. pose proof (fact_pos n). pose proof (lt_0_INR (S n) ltac:(lia)). field. lra.
  - intro i. unfold term. replace (n + S i)%nat with (S n + i)%nat by lia.
    replace (INR (fact (S n))) with (INR (S n) * INR (fact n)) by (rewrite <- mult_INR; reflexivity).
    simpl pow. pose proof (fact_pos (S n + i)). pose proof (lt_0_INR (S n) ltac:(lia)). field. lra.
Qed.

Lemma rest_bounds y n : 0 <= y <= 1 -> 1 <= rest y n <= 3.
Proof.
  intro Hy. assert (forall m, 0 <= rest y m <= 3) as H.
  { intro m. split.
    - unfold rest. replace 0 with (Series (fun i => 0 * term y m i)) by (rewrite Series_scal_l; lra).
      apply Series_le; [|apply term_summable; lra]. intro i. destruct (term_bounds y m i); lra.
    - apply Rle_trans with (exp y).
      + rewrite <- rest_0. unfold rest. apply Series_le; [|apply term_summable; lra]. intro i.
        destruct (term_bounds y m i); [lra|]. split; [assumption|]. unfold term at 2. simpl. unfold Rdiv. rewrite Rmult_1_l. assumption.
      + apply Rle_trans with (exp 1); [|apply exp_le_3]. destruct (proj2 Hy) as [L|E]; [left; now apply exp_increasing | rewrite E; lra]. }
  split; [|apply H]. rewrite rest_next by lra. pose proof (H (S n)). pose proof (lt_0_INR (S n) ltac:(lia)).
  assert (0 <= y * rest y (S n) / INR (S n)); [|lra]. apply Rmult_le_pos; [nra | left; now apply Rinv_0_lt_compat].
Qed.

Lemma exp_near_0 t : 0 <= t <= 1 -> exp t <= 1 + 2 * t.
Proof.
  intro Ht. rewrite <- rest_0, (rest_next t 0), (rest_next t 1), (rest_next t 2) by lra.
  pose proof (rest_bounds t 3 Ht). set (r := rest t 3) in *. simpl INR. assert (t * r <= 3) by nra. assert (0 <= t * r) by nra.
  assert (t * (1 + t * r / (1 + 1 + 1)) <= 2) by nra. nra.
Qed.

Section Exponential.
Variable p : positive.
Definition spare : positive := 32.
Definition q : positive := (p + spare)%positive.  (* the precision of all steps *)

(* x/(n+1) for x >= 0 *)
Definition over_nat (u : ends) (n : positive) : ends :=
  match u with Some (a, b) => Some (down_div a (Zpos n), up_div b (Zpos n)) | None => None end.
Lemma over_nat_holds u n x : holds q u x -> holds q (over_nat u n) (x / IZR (Zpos n)).
Proof.
  destruct u as [[a b]|]; simpl; auto. intros [H1 H2]. assert (0 < IZR (Zpos n)) by now apply IZR_lt.
  pose proof (down_div_le a (Zpos n) eq_refl). pose proof (up_div_ge b (Zpos n) eq_refl).
  split; apply Rmult_le_reg_r with (IZR (Zpos n)); try assumption;
    replace (x / IZR (Zpos n) * IZR (one q) * IZR (Zpos n)) with (x * IZR (one q)) by (field; lra); lra.
Qed.

(* E_n from E_(n + terms), which is between 1 and 3 *)
Fixpoint taylor (terms : nat) (n : positive) (y : ends) : ends :=
  match terms with
  | O => Some (one q, 3 * one q)%Z
  | S k => plus (whole q 1) (over_nat (times q y (taylor k (Pos.succ n) y)) n)
  end.

Lemma taylor_holds u y terms : holds q u y -> 0 <= y <= 1 -> forall n, holds q (taylor terms n u) (rest y (pred (Pos.to_nat n))).
Proof.
  intros Hu Hy. induction terms as [|k IH]; intro n; cbn [taylor].
  - pose proof (rest_bounds y (pred (Pos.to_nat n)) Hy). pose proof (one_posR q). cbn [holds]. rewrite mult_IZR. nra.
  - rewrite rest_next by lra. pose proof (Pos2Nat.is_pos n).
    replace (S (pred (Pos.to_nat n))) with (Pos.to_nat n) by lia.
    apply plus_holds; [apply (whole_holds q 1)|].
    rewrite INR_IZR_INZ, positive_nat_Z. apply over_nat_holds. apply times_holds; [exact Hu|].
    specialize (IH (Pos.succ n)). now rewrite Pos2Nat.inj_succ in IH.
Qed.

Fixpoint square_often (k : nat) (u : ends) : ends := match k with O => u | S j => square_often j (times q u u) end.
Lemma square_often_holds k : forall u x, holds q u (exp x) -> holds q (square_often k u) (exp (x * 2 ^ k)).
Proof.
  induction k as [|k IH]; intros u x H; simpl.
  - now rewrite Rmult_1_r.
  - replace (x * (2 * 2 ^ k)) with ((x + x) * 2 ^ k) by ring. apply IH. rewrite exp_plus. now apply times_holds.
Qed.

(* e^(z/2^q) for z >= 0 *)
Definition exp_positive (z : Z) : ends :=
  let k := Z.max 0 (Z.log2 z - Zpos q + 9)%Z in
  square_often (Z.to_nat k) (taylor (Pos.to_nat q / 8 + 2) 1 (Some (Z.shiftr z k, Z.shiftr z k + 1)%Z)).

Lemma exp_positive_holds z : (0 <= z)%Z -> holds q (exp_positive z) (exp (IZR z / IZR (one q))).
Proof.
  intro Hz. unfold exp_positive. set (k := Z.max 0 (Z.log2 z - Zpos q + 9)). assert (0 <= k)%Z as Hk by lia.
  pose proof (one_posR q) as Ho. assert (0 < IZR (2 ^ k)) as H2 by (apply IZR_lt, Z.pow_pos_nonneg; lia).
  set (y := IZR z / IZR (one q) / IZR (2 ^ k)).
  replace (IZR z / IZR (one q)) with (y * 2 ^ Z.to_nat k).
  2: { unfold y. rewrite pow_IZR, Z2Nat.id by assumption. field. lra. }
  apply square_often_holds. rewrite <- (rest_0 y). change 0%nat with (pred (Pos.to_nat 1)). apply taylor_holds.
  - rewrite Z.shiftr_div_pow2 by assumption. cbn [holds]. rewrite plus_IZR.
    replace (y * IZR (one q)) with (IZR z / IZR (2 ^ k)) by (unfold y; field; lra).
    assert (0 < 2 ^ k)%Z as H3 by now apply lt_IZR.
    pose proof (Z.mul_div_le z (2 ^ k) H3). pose proof (Z.mul_succ_div_gt z (2 ^ k) H3) as H4.
    split; apply Rmult_le_reg_r with (IZR (2 ^ k)); try assumption;
      replace (IZR z / IZR (2 ^ k) * IZR (2 ^ k)) with (IZR z) by (field; lra).
    + rewrite <- mult_IZR. apply IZR_le. lia.
    + rewrite <- plus_IZR, <- mult_IZR. apply IZR_le. lia.
  - assert (0 <= IZR z) by now apply IZR_le. unfold y. split.
    + apply Rmult_le_pos; [apply Rmult_le_pos; [assumption | left; now apply Rinv_0_lt_compat] | left; now apply Rinv_0_lt_compat].
    + apply Rmult_le_reg_r with (IZR (one q) * IZR (2 ^ k)); [nra|].
      replace (IZR z / IZR (one q) / IZR (2 ^ k) * (IZR (one q) * IZR (2 ^ k))) with (IZR z) by (field; lra).
      rewrite Rmult_1_l, <- mult_IZR. apply IZR_le. unfold one. rewrite <- Z.pow_add_r by lia.
      destruct (Z.eq_dec z 0) as [->|]; [apply Z.pow_nonneg; lia|].
      apply Z.le_trans with (2 ^ (Z.succ (Z.log2 z)))%Z; [apply Z.lt_le_incl, Z.log2_spec; lia|]. apply Z.pow_le_mono_r; lia.
Qed.

(* e^(z/2^q) *)
Definition exp_point (z : Z) : ends :=
  if (0 <=? z)%Z then exp_positive z else over q (whole q 1) (exp_positive (- z)).
Lemma exp_point_holds z : holds q (exp_point z) (exp (IZR z / IZR (one q))).
Proof.
  unfold exp_point. destruct (Z.leb_spec 0 z); [now apply exp_positive_holds|].
  pose proof (one_posR q) as Ho. replace (exp (IZR z / IZR (one q))) with (1 / exp (IZR (- z) / IZR (one q))).
  - apply over_holds; [apply (whole_holds q 1) | apply exp_positive_holds; lia].
  - rewrite opp_IZR. replace (- IZR z / IZR (one q)) with (- (IZR z / IZR (one q))) by (field; lra). rewrite exp_Ropp.
    pose proof (exp_pos (IZR z / IZR (one q))). field. lra.
Qed.

Lemma one_q : IZR (one q) = IZR (one p) * IZR (2 ^ Zpos spare).
Proof. rewrite <- mult_IZR. unfold one, q. rewrite <- Z.pow_add_r by lia. now rewrite Pos2Z.inj_add. Qed.

(* From precision q to p, for ends a and b: e^b <= e^a (1 + 2 (b - a)). *)
Definition exponential_near (u : ends) : ends :=
  match u with
  | Some (a, b) =>
      if (Z.abs a <? 32768 * one p)%Z && (b - a <=? one p)%Z && (a <=? b)%Z then
        match exp_point (Z.shiftl a (Zpos spare)) with
        | Some (c, d) =>
            let d' := (d * (one p + 2 * (b - a)))%Z in
            Some (Z.shiftr c (Zpos spare), (- Z.shiftr (- d') (Zpos spare + Zpos p))%Z)
        | None => None
        end
      else None
  | None => None
  end.

Lemma exponential_near_holds u x : holds p u x -> holds p (exponential_near u) (exp x).
Proof.
  destruct u as [[a b]|]; [|auto]. intros [H1 H2]. unfold exponential_near.
  destruct (Z.abs a <? 32768 * one p)%Z, (Z.leb_spec (b - a) (one p)), (Z.leb_spec a b); cbn [andb]; try exact Logic.I.
  pose proof (exp_point_holds (Z.shiftl a (Zpos spare))) as E. destruct (exp_point _) as [[c d]|]; [|exact Logic.I].
  pose proof (one_posR p) as Ho. pose proof one_q as Hq. assert (0 < IZR (2 ^ Zpos spare)) as Hs by (apply IZR_lt; reflexivity).
  rewrite Z.shiftl_mul_pow2, mult_IZR in E by lia.
  replace (IZR a * IZR (2 ^ Zpos spare) / IZR (one q)) with (IZR a / IZR (one p)) in E by (rewrite Hq; field; lra).
  cbn [holds] in *. rewrite Hq in E. set (ea := exp (IZR a / IZR (one p))) in *. set (s := IZR (2 ^ Zpos spare)) in *.
  assert (ea <= exp x) as L1.
  { unfold ea. assert (IZR a / IZR (one p) <= x) as [L|L].
    - apply Rmult_le_reg_r with (IZR (one p)); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
    - left. now apply exp_increasing.
    - rewrite L. lra. }
  assert (exp x <= ea * (1 + 2 * (IZR (b - a) / IZR (one p)))) as L2.
  { assert (x = IZR a / IZR (one p) + (x - IZR a / IZR (one p))) as -> by ring. rewrite exp_plus. fold ea.
    assert (0 < ea) by apply exp_pos. apply Rmult_le_compat_l; [lra|].
    assert (0 <= x - IZR a / IZR (one p) <= IZR (b - a) / IZR (one p)) as [T1 T2].
    { rewrite minus_IZR. split; apply Rmult_le_reg_r with (IZR (one p)); try assumption.
      - replace ((x - IZR a / IZR (one p)) * IZR (one p)) with (x * IZR (one p) - IZR a) by (field; lra). lra.
      - replace ((x - IZR a / IZR (one p)) * IZR (one p)) with (x * IZR (one p) - IZR a) by (field; lra).
        replace ((IZR b - IZR a) / IZR (one p) * IZR (one p)) with (IZR b - IZR a) by (field; lra). lra. }
    assert (IZR (b - a) / IZR (one p) <= 1).
    { apply Rmult_le_reg_r with (IZR (one p)); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. rewrite Rmult_1_r, Rmult_1_l. now apply IZR_le. }
    pose proof (exp_near_0 (x - IZR a / IZR (one p)) ltac:(lra)). lra. }
  split.
  - rewrite Z.shiftr_div_pow2 by lia. pose proof (down_div_le c (2 ^ Zpos spare) eq_refl) as D. fold s in D. unfold down_div in D.
    apply Rmult_le_reg_r with s; [assumption|]. eapply Rle_trans; [exact D|].
    apply Rle_trans with (ea * (IZR (one p) * s)); [apply E|]. rewrite Rmult_assoc. apply Rmult_le_compat_r; [nra | assumption].
  - set (d' := (d * (one p + 2 * (b - a)))%Z). rewrite Z.shiftr_div_pow2 by lia.
    pose proof (up_div_ge d' (2 ^ (Zpos spare + Zpos p)) ltac:(now apply Z.pow_pos_nonneg)) as U. unfold up_div in U.
    rewrite Z.pow_add_r, mult_IZR in U by lia. fold s in U. change (2 ^ Zpos p)%Z with (one p) in U.
    assert (IZR d' = IZR d * (IZR (one p) + 2 * IZR (b - a))) as Ed by (unfold d'; rewrite mult_IZR, plus_IZR, mult_IZR; reflexivity).
    apply Rmult_le_reg_r with (s * IZR (one p)); [nra|]. rewrite Z.pow_add_r by lia. change (2 ^ Zpos p)%Z with (one p).
    eapply Rle_trans; [|exact U]. rewrite Ed.
    assert (0 <= IZR (b - a)) by (apply IZR_le; lia).
    apply Rle_trans with (ea * (1 + 2 * (IZR (b - a) / IZR (one p))) * IZR (one p) * (s * IZR (one p))).
    + apply Rmult_le_compat_r; [nra|]. apply Rmult_le_compat_r; lra.
    + replace (ea * (1 + 2 * (IZR (b - a) / IZR (one p))) * IZR (one p) * (s * IZR (one p)))
        with (ea * (IZR (one p) * s) * (IZR (one p) + 2 * IZR (b - a))) by (field; lra).
      apply Rmult_le_compat_r; lra.
Qed.

(* Below -30000 e^x is less than the last digit. *)
Definition exponential (u : ends) : ends :=
  match u with
  | Some (_, b) => if (b <=? - (30000 * one p))%Z && (p <=? 30000)%positive then Some (0, 1)%Z else exponential_near u
  | None => None
  end.

Lemma exp_tiny n : forall x, x <= - INR n -> exp x * 2 ^ n <= 1.
Proof.
  induction n as [|n IH]; intros x Hx.
  - simpl in *. rewrite Rmult_1_r, <- exp_0. destruct (Req_dec x 0) as [->|]; [lra | left; apply exp_increasing; lra].
  - rewrite S_INR in Hx. replace x with (x + 1 + - (1)) by ring. rewrite exp_plus, exp_Ropp. specialize (IH (x + 1) ltac:(lra)).
    pose proof (exp_ineq1_le 1). pose proof (exp_pos (x + 1)). assert (/ exp 1 <= / 2) by (apply Rinv_le_contravar; lra).
    pose proof (pow_lt 2 n ltac:(lra)). simpl. apply Rle_trans with (exp (x + 1) * / 2 * (2 * 2 ^ n)); [|lra].
    apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; lra.
Qed.

Lemma exponential_holds u x : holds p u x -> holds p (exponential u) (exp x).
Proof.
  intro H. pose proof (exponential_near_holds u x H) as N. unfold exponential. destruct u as [[a b]|]; [|exact Logic.I].
  destruct (Z.leb_spec b (- (30000 * one p))) as [Lb|]; [|exact N]. destruct (Pos.leb_spec p 30000) as [Lp|]; [|exact N].
  pose proof (one_posR p) as Ho. destruct H as [_ H]. apply IZR_le in Lb. rewrite opp_IZR, mult_IZR in Lb.
  assert (x <= - INR (Pos.to_nat p)) as Hx.
  { rewrite INR_IZR_INZ, positive_nat_Z. apply Rle_trans with (- (30000)); [apply Rmult_le_reg_r with (IZR (one p)); lra|].
    apply Ropp_le_contravar, IZR_le. lia. }
  apply exp_tiny in Hx. rewrite pow_IZR, positive_nat_Z in Hx. cbn [andb holds]. split; [|exact Hx].
  pose proof (exp_pos x). nra.
Qed.
End Exponential.

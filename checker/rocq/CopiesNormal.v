(* The curve of j counts together is hardly above that of one Gaussian value, moved by sqrt(j)/sigma standard deviations: all sums over
   the integers become areas. *)
From Coq Require Import Reals Lra Lia ZArith List FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Line Moves.
From DP Require Normal NormalSum.
From DP Require Import Noise Theta Renyi ThetaArea ThetaRatio Copies.
Open Scope R_scope.

Local Notation half := (half_area Normal.gauss).
Local Notation tail := (tail Normal.gauss).

(* The integral of e^(-d t^2). *)
Definition area (d : R) : R := 2 * (half / sqrt (2 * d)).
Lemma area_width d (H : 0 < d) : width d H = area d.
Proof. apply width_is. Qed.
Lemma area_pos d : 0 < d -> 0 < area d.
Proof. intro H. rewrite <- (area_width d H). apply width_pos. Qed.
Lemma area_product d e : 0 < d -> 0 < e -> area d * area e = 4 * (half * half) / sqrt (4 * (d * e)).
Proof.
  intros Hd He. unfold area. replace (4 * (d * e)) with (2 * d * (2 * e)) by ring. rewrite (sqrt_mult (2 * d) (2 * e)) by lra.
  assert (0 < sqrt (2 * d)) by (apply sqrt_lt_R0; lra). assert (0 < sqrt (2 * e)) by (apply sqrt_lt_R0; lra). field. split; lra.
Qed.

(* The probability of a large value. *)
Lemma tail_at_most t : 0 < t -> tail t <= Normal.bell t / (2 * half * t).
Proof.
  intro Ht. pose proof (Normal.half_area_far t Ht) as F. pose proof (half_pos Normal.gauss) as Hp. unfold Moves.tail.
  change (Normal.gauss t) with (Normal.bell t) in F.
  replace (/ 2 - area_of Normal.gauss t / (2 * half)) with ((half - area_of Normal.gauss t) / (2 * half)) by (field; lra).
  replace (Normal.bell t / (2 * half * t)) with (Normal.bell t / t / (2 * half)) by (field; lra).
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra | lra].
Qed.

Lemma threshold_below mu x a : 0 < mu -> 0 < x -> tail a - x * tail (a + mu) <= Normal.gauss_curve mu x.
Proof.
  intros Hm Hx. pose proof (NormalSum.largest_value mu x Hm Hx (half_line (a + mu))) as B.
  rewrite half_line_move in B. specialize (B (half_line_test Normal.gauss _) (half_line_test Normal.gauss _)).
  rewrite !tail_mean in B. now replace (a + mu - mu) with a in B by ring.
Qed.

Section Together.
Variable c : R.
Hypothesis c_pos : 0 < c.
Hypothesis c_small : c <= / 2.

Lemma height_near i : height_of c i <= exp (32 * c ^ 4 * INR i) / area (c / INR (S i)).
Proof.
  pose proof (width_below c c_pos) as W. rewrite area_width in W. pose proof (area_pos c c_pos) as Ac.
  induction i as [|i IH]; cbn [height_of].
  - replace (32 * c ^ 4 * INR 0) with 0 by (simpl; ring). rewrite exp_0. change (INR 1) with 1. replace (c / 1) with c by field.
    unfold Rdiv. rewrite Rmult_1_l. apply Rinv_le_contravar; assumption.
  - set (j := INR (S i)) in *. assert (INR (S (S i)) = j + 1) as -> by (unfold j; now rewrite (S_INR (S i))).
    assert (1 <= j) as Hj by (unfold j; rewrite S_INR; pose proof (pos_INR i); lra).
    set (d := c * ((j + 1) / j)). assert ((j + 1) / j <= 2) as H2 by (apply Rmult_le_reg_r with j; [lra | unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra]).
    assert (0 < (j + 1) / j) as H0 by (apply Rdiv_lt_0_compat; lra). assert (0 < d <= 2 * c) as Hd by (unfold d; nra).
    pose proof (theta_near d (proj1 Hd) ltac:(lra)) as T. rewrite area_width in T.
    assert (theta d 0 <= area d * exp (32 * c ^ 4)) as T'.
    { eapply Rle_trans; [exact T|]. apply Rmult_le_compat_l; [left; now apply area_pos|]. apply exp_le.
      replace (32 * c ^ 4) with (2 * (2 * c) ^ 4) by ring. apply Rmult_le_compat_l; [lra|]. apply pow_incr. lra. }
    assert (0 < c / j) as Hcj by (apply Rdiv_lt_0_compat; lra). assert (0 < c / (j + 1)) as Hcj1 by (apply Rdiv_lt_0_compat; lra).
    pose proof (area_product (c / j) c Hcj c_pos) as P1. pose proof (area_product d (c / (j + 1)) (proj1 Hd) Hcj1) as P2.
    assert (d * (c / (j + 1)) = c / j * c) as Ed by (unfold d; field; lra). rewrite Ed, <- P1 in P2.
    pose proof (area_pos _ Hcj). pose proof (area_pos _ Hcj1). pose proof (area_pos d (proj1 Hd)). pose proof (theta_pos d (proj1 Hd) 0).
    replace (32 * c ^ 4 * j) with (32 * c ^ 4 * INR i + 32 * c ^ 4) by (unfold j; rewrite S_INR; ring). rewrite exp_plus.
    set (u := exp (32 * c ^ 4 * INR i)) in *. set (v := exp (32 * c ^ 4)) in *. assert (0 < u) by apply exp_pos. assert (0 < v) by apply exp_pos.
    apply Rle_trans with (u / area (c / j) * (area d * v / area c)).
    + apply Rmult_le_compat; [left; now apply height_pos | left; apply Rdiv_lt_0_compat; lra | exact IH |].
      apply Rmult_le_compat; [lra | left; apply Rinv_0_lt_compat; lra | assumption | apply Rinv_le_contravar; assumption].
    + right. replace (u / area (c / j) * (area d * v / area c)) with (u * v * (area d / (area (c / j) * area c))) by (field; lra).
      rewrite <- P2. field. lra.
Qed.

(* The sum for j counts, by areas. *)
Section Term.
Variables j x : R.
Hypothesis j_large : 1 <= j.
Variable whole : Z.
Hypothesis j_whole : j = IZR whole.
Hypothesis x_large : 1 < x.
Let d := c / j.
Let L := ln x / (2 * c).

Lemma share_small : 0 < d <= / 2.
Proof.
  unfold d. split; [apply Rdiv_lt_0_compat; lra|]. apply Rmult_le_reg_r with j; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
Lemma reach_pos : 0 < L.
Proof. unfold L. apply Rdiv_lt_0_compat; [|lra]. rewrite <- ln_1. apply ln_increasing; lra. Qed.
Lemma log_x : ln x = 2 * c * L.
Proof. unfold L. field. lra. Qed.

Definition waste : R :=
  let y := d * (L + j / 2 + 1) in exp (- (d * ((L - j / 2) * (L - j / 2)))) * exp y * (y / 4 + / (2 * L)).

Lemma waste_nonneg : 0 <= waste.
Proof.
  unfold waste. pose proof share_small. pose proof reach_pos as HL. assert (0 <= d * (L + j / 2 + 1)) by nra. pose proof (Rinv_0_lt_compat (2 * L) ltac:(lra)).
  apply Rmult_le_pos; [|lra]. left. apply Rmult_lt_0_compat; apply exp_pos.
Qed.

Lemma total_term : total (term c j x) <= exp (d / 4) * (area d * Normal.gauss_curve (sqrt (2 * c * j)) x) + waste.
Proof.
  pose proof share_small as [Hd Hd2]. pose proof reach_pos as HL. pose proof log_x as Hl. set (s0 := L - j / 2).
  set (m := up s0). pose proof (archimed s0) as [U1 U2]. fold m in U1, U2.
  assert (0 < x) as Hx by lra. assert (d * j = c) as Ed by (unfold d; field; lra).
  set (M := (m + whole)%Z). assert (IZR M = IZR m + j) as EM by (unfold M; rewrite plus_IZR, j_whole; reflexivity).
  destruct (shift_total _ (- whole) (later_summable d Hd M)) as [S1 T1].
  pose proof (later_summable d Hd m) as S0.
  assert (total (term c j x) = later d m - x * later d M) as ->.
  { unfold later. rewrite <- T1. transitivity (total (fun z => bell d 0 z * from m z + - x * (bell d 0 (z - - whole) * from M (z - - whole)))).
    - f_equal. extensionality z. unfold term, from. fold d.
      assert (x * exp (- (c * (2 * IZR z + j))) = exp (2 * c * (s0 - IZR z))) as E.
      { rewrite <- (exp_ln x Hx) at 1. rewrite <- exp_plus, Hl. f_equal. unfold s0. field. }
      assert (bell d 0 (z - - whole) * x = bell d 0 z * exp (2 * c * (s0 - IZR z))) as Eb.
      { rewrite <- E. rewrite (Rmult_comm x), <- Rmult_assoc. f_equal. unfold bell. rewrite <- exp_plus. f_equal.
        rewrite minus_IZR, opp_IZR, <- j_whole. replace c with (d * j) by exact Ed. ring. }
      rewrite E. unfold M. destruct (Z.leb_spec m z), (Z.leb_spec (m + whole) (z - - whole)); try lia.
      + apply IZR_le in H. unfold hinge. rewrite Rmax_right; [nra|].
        assert (exp (2 * c * (s0 - IZR z)) <= 1); [|lra]. rewrite <- exp_0. apply exp_le. nra.
      + assert (IZR z + 1 <= IZR m) by (rewrite <- plus_IZR; apply IZR_le; lia). unfold hinge. rewrite Rmax_left; [ring|].
        assert (1 <= exp (2 * c * (s0 - IZR z))); [|lra]. rewrite <- exp_0. apply exp_le. nra.
    - rewrite total_plus, total_scale by auto using summable_scale. ring. }
  set (A := IZR M - / 2). set (a := sqrt (2 * d) * (IZR m - / 2)). set (mu := sqrt (2 * c * j)).
  assert (0 < 2 * c * j) as Hcj by nra. assert (0 < mu) as Hmu by (now apply sqrt_lt_R0).
  assert (0 < sqrt (2 * d)) as Hr by (apply sqrt_lt_R0; lra).
  assert (sqrt (2 * d) * j = mu) as Emu.
  { unfold mu. replace (2 * c * j) with (2 * d * (j * j)) by (rewrite <- Ed; ring). rewrite (sqrt_mult (2 * d) (j * j)), sqrt_square by nra. reflexivity. }
  assert (sqrt (2 * d) * A = a + mu) as Ea by (unfold A, a; rewrite EM, <- Emu; ring).
  pose proof (later_below d Hd m) as B1. pose proof (later_above d Hd M) as B2. rewrite above_tail, area_width in B1, B2. fold a in B1. fold A in B2.
  rewrite Ea in B2. rewrite wave_at in B2.
  assert (L <= A) as HA by (unfold A; rewrite EM; unfold s0 in U1; lra).
  set (w := exp (- d * (A * A))) in *. assert (0 < w) as Hw by apply exp_pos.
  pose proof (area_pos d Hd) as HW. set (W := area d) in *.
  pose proof (threshold_below mu x a Hmu Hx) as G. set (g := Normal.gauss_curve mu x) in *.
  set (q := tail (a + mu)) in *. set (k := exp (d / 4)) in *. assert (exp (- (d / 4)) = / k) as Ek by (unfold k; now rewrite exp_Ropp).
  rewrite Ek in B2. assert (1 <= k) as Hk by (unfold k; rewrite <- exp_0; apply exp_le; lra).
  assert (W * q <= w / (2 * d * A)) as Q.
  { unfold q. rewrite <- Ea. assert (0 < sqrt (2 * d) * A) as Hp by nra. pose proof (tail_at_most _ Hp) as T. pose proof (half_pos Normal.gauss) as Hh.
    apply (Rmult_le_compat_l W) in T; [|lra]. eapply Rle_trans; [exact T|]. right. unfold W, area, w, Normal.bell.
    pose proof (sqrt_sqrt (2 * d) ltac:(lra)) as E. set (r := sqrt (2 * d)) in *. rewrite <- E.
    replace (r * A * (r * A) / 2) with (d * (A * A)) by (replace (r * A * (r * A)) with (r * r * (A * A)) by ring; rewrite E; field).
    replace (- (d * (A * A))) with (- d * (A * A)) by ring. field. lra. }
  assert (k - / k <= d) as K.
  { assert (k * k = exp (d / 2)) as E by (unfold k; rewrite <- exp_plus; f_equal; field).
    pose proof (Exponential.exp_near_0 (d / 2) ltac:(lra)) as N. rewrite <- E in N. replace (2 * (d / 2)) with d in N by field.
    apply Rmult_le_reg_r with k; [lra|]. replace ((k - / k) * k) with (k * k - 1) by (field; lra). nra. }
  assert (bell d 0 M = w * exp (- (d * (A + / 4)))) as EB.
  { unfold w, bell. rewrite <- exp_plus. f_equal. unfold A. field. }
  rewrite EB in B2. pose proof (exp_ineq1_le (- (d * (A + / 4)))) as X1.
  set (y := d * (L + j / 2 + 1)).
  assert (d * (A + / 4) <= y) as Y1 by (unfold y; apply Rmult_le_compat_l; [lra|]; unfold A; rewrite EM; unfold s0 in U2; lra).
  assert (w * x <= exp (- (d * (s0 * s0))) * exp y) as WX.
  { unfold w. rewrite <- (exp_ln x Hx) at 1. rewrite <- !exp_plus. apply exp_le. rewrite Hl. unfold y.
    assert (L + j / 2 - / 2 <= A) as HA2 by (unfold A; rewrite EM; unfold s0 in U1; lra).
    assert ((L + j / 2 - / 2) * (L + j / 2 - / 2) <= A * A) as SA by nra.
    assert (d * ((L + j / 2 - / 2) * (L + j / 2 - / 2)) <= d * (A * A)) as SA' by (apply Rmult_le_compat_l; lra).
    assert (2 * c * L = d * ((L + j / 2) * (L + j / 2) - s0 * s0)) as E2 by (unfold s0; rewrite <- Ed; field). rewrite E2. nra. }
  assert (w * (1 - exp (- (d * (A + / 4)))) / 4 <= w * (y / 4)) as W1 by nra.
  assert (d * (w / (2 * d * A)) <= w * / (2 * L)) as W2.
  { replace (d * (w / (2 * d * A))) with (w * / (2 * A)) by (field; lra). apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra. }
  assert (0 <= W * q) as Q0 by (apply Rmult_le_pos; [lra | apply NormalSum.tail_bounds]).
  assert (0 <= y) as Y0 by (unfold y; nra). pose proof (Rinv_0_lt_compat (2 * L) ltac:(lra)) as I0.
  (* the area for both sums, and what is lost on the second one *)
  assert (later d m - x * later d M <= k * (W * (tail a - x * q)) + x * ((k - / k) * (W * q) + w * (y / 4))) as F1.
  { assert (/ k * (W * q) - w * (y / 4) <= later d M) as B3 by lra. apply (Rmult_le_compat_l x) in B3; [|lra].
    replace (k * (W * (tail a - x * q)) + x * ((k - / k) * (W * q) + w * (y / 4))) with (k * (W * tail a) - x * (/ k * (W * q) - w * (y / 4))) by ring. lra. }
  assert ((k - / k) * (W * q) <= w * / (2 * L)) as F2.
  { apply Rle_trans with (d * (w / (2 * d * A))); [|exact W2]. apply Rle_trans with (d * (W * q)); [now apply Rmult_le_compat_r | apply Rmult_le_compat_l; lra]. }
  assert (k * (W * (tail a - x * q)) <= k * (W * g)) as F3 by (apply Rmult_le_compat_l; [lra|]; apply Rmult_le_compat_l; lra).
  assert (x * ((k - / k) * (W * q) + w * (y / 4)) <= waste) as F4; [|lra].
  apply Rle_trans with (w * x * (y / 4 + / (2 * L))).
  - replace (w * x * (y / 4 + / (2 * L))) with (x * (w * / (2 * L) + w * (y / 4))) by ring. apply Rmult_le_compat_l; lra.
  - unfold waste. fold s0 y. apply Rmult_le_compat_r; [lra | exact WX].
Qed.
End Term.

Theorem together_normal i x : 1 < x -> let j := INR (S i) in
  together c i x <= exp (32 * c ^ 4 * INR i + c / j / 4) * (Normal.gauss_curve (sqrt (2 * c * j)) x + waste j x / area (c / j)).
Proof.
  intros Hx j. assert (1 <= j) as Hj by (unfold j; rewrite S_INR; pose proof (pos_INR i); lra).
  pose proof (total_term j x Hj (Z.of_nat (S i)) (INR_IZR_INZ (S i)) Hx) as T. pose proof (height_near i) as K. fold j in K.
  assert (0 < c / j) as Hd by (apply Rdiv_lt_0_compat; lra). pose proof (area_pos _ Hd) as HW. pose proof (waste_nonneg j x Hj Hx) as W0.
  pose proof (height_pos c c_pos i) as K0. unfold together. fold j. rewrite exp_plus.
  set (u := exp (32 * c ^ 4 * INR i)) in *. set (k := exp (c / j / 4)) in *. assert (1 <= k) as Hk by (unfold k; rewrite <- exp_0; apply exp_le; lra).
  assert (0 < u) as Hu by apply exp_pos. set (g := Normal.gauss_curve (sqrt (2 * c * j)) x) in *. set (W := area (c / j)) in *. set (e := waste j x) in *.
  assert (total (term c j x) <= k * (W * g + e)) as T' by nra.
  assert (0 <= total (term c j x)) as T0 by (apply total_nonneg; [apply term_summable; lra | intro z; apply term_bounds; lra]).
  apply Rle_trans with (u / W * (k * (W * g + e))).
  - apply Rmult_le_compat; lra.
  - right. field. lra.
Qed.

(* The same in numbers that are computed: v bounds half the square of the threshold from below. *)
Theorem together_areas i v x : 1 < x -> let j := INR (S i) in
  v <= 0 \/ v <= (ln x - c * j) * (ln x - c * j) / (4 * (c * j)) ->
  let y := (ln x / 2 + c) / j + c / 2 in
  together c i x <= exp (32 * c ^ 4 * j + c / j / 4)
    * (Normal.gauss_curve (sqrt (2 * c * j)) x + exp (y - v) * (y / 4 + c / ln x) * (sqrt (2 * c / j) / (half + half))).
Proof.
  intros Hx j Hv y. pose proof (together_normal i x Hx) as T. fold j in T.
  assert (1 <= j) as Hj by (unfold j; rewrite S_INR; pose proof (pos_INR i); lra).
  assert (0 < ln x) as Hl by (rewrite <- ln_1; apply ln_increasing; lra). pose proof (half_pos Normal.gauss) as Hh.
  assert (0 < c ^ 4) as H4 by now apply pow_lt. assert (INR i <= j) as Hi by (unfold j; rewrite S_INR; lra).
  assert (0 < c / j) as Hcj by (apply Rdiv_lt_0_compat; lra). assert (0 < c * j) as Hcj0 by nra.
  assert (exp (32 * c ^ 4 * INR i + c / j / 4) <= exp (32 * c ^ 4 * j + c / j / 4)) as F by (apply exp_le; nra).
  assert (0 <= Normal.gauss_curve (sqrt (2 * c * j)) x) as G0.
  { pose proof (NormalSum.const_below (sqrt (2 * c * j)) x 0 ltac:(apply sqrt_lt_R0; nra) ltac:(lra) ltac:(lra)). lra. }
  set (L := ln x / (2 * c)). assert (c / j * (L + j / 2 + 1) = y) as Ey by (unfold y, L; field; lra).
  assert (0 < L) as HL by (apply Rdiv_lt_0_compat; lra). assert (0 < y) as Hy by (rewrite <- Ey; apply Rmult_lt_0_compat; lra).
  assert (v <= c / j * ((L - j / 2) * (L - j / 2))) as V.
  { assert (c / j * ((L - j / 2) * (L - j / 2)) = (ln x - c * j) * (ln x - c * j) / (4 * (c * j))) as -> by (unfold L; field; lra).
    destruct Hv as [Hv|Hv]; [|exact Hv]. apply Rle_trans with 0; [exact Hv|].
    apply Rmult_le_pos; [apply Rle_0_sqr | left; apply Rinv_0_lt_compat; lra]. }
  assert (0 < c / ln x) as Hcl by (now apply Rdiv_lt_0_compat).
  assert (waste j x <= exp (y - v) * (y / 4 + c / ln x)) as W.
  { unfold waste. fold L. rewrite Ey, <- exp_plus. replace (/ (2 * L)) with (c / ln x) by (unfold L; field; lra).
    apply Rmult_le_compat_r; [lra|]. apply exp_le. lra. }
  assert (waste j x / area (c / j) <= exp (y - v) * (y / 4 + c / ln x) * (sqrt (2 * c / j) / (half + half))) as E.
  { assert (0 < sqrt (2 * (c / j))) as Hs by (apply sqrt_lt_R0; lra).
    replace (waste j x / area (c / j)) with (waste j x * (sqrt (2 * (c / j)) / (half + half))) by (unfold area; field; lra).
    replace (2 * c / j) with (2 * (c / j)) by (unfold Rdiv; ring). apply Rmult_le_compat_r; [|exact W]. left. apply Rdiv_lt_0_compat; lra. }
  assert (0 <= waste j x / area (c / j)) as E0 by (apply Rmult_le_pos; [apply waste_nonneg; lra | left; apply Rinv_0_lt_compat, area_pos; exact Hcj]).
  pose proof (exp_pos (32 * c ^ 4 * INR i + c / j / 4)). eapply Rle_trans; [exact T|]. apply Rmult_le_compat; lra.
Qed.

(* Where few sums matter: as one discrete Gaussian of the added variance, moved by j, whose probabilities are listed. *)
Theorem together_listed i n x : 0 <= x -> let j := Z.of_nat (S i) in
  together c i x <= exp (34 * c ^ 4 * IZR j) * shifted_excess true (c / IZR j) j n x.
Proof.
  intros Hx j. assert (INR (S i) = IZR j) as Ej by apply INR_IZR_INZ. set (r := IZR j) in *.
  assert (1 <= r) as Hr by (apply IZR_le; lia). assert (0 < c / r) as Hd by (apply Rdiv_lt_0_compat; lra). set (d := c / r) in *.
  pose proof (sum_around_pos true d n) as P. pose proof (mass_of_all_ge true d Hd n) as Ge. rewrite all_theta in Ge.
  set (top := sum (fun z => pos (weight true d z - x * weight true d (z + j))) (around n) + tail_bound true d n).
  assert (forall z, term c r x z = pos (weight true d z - x * weight true d (z + j))) as Et.
  { intro z. unfold term. fold d. rewrite !weight_bell. assert (bell d 0 (z + j) = bell d 0 z * exp (- (c * (2 * IZR z + r)))) as ->.
    { unfold bell. rewrite <- exp_plus, plus_IZR. fold r. f_equal. unfold d. field. lra. }
    unfold hinge, pos. pose proof (bell_pos d 0 z). set (e := exp _).
    replace (bell d 0 z - x * (bell d 0 z * e)) with (bell d 0 z * (1 - x * e)) by ring. set (y := 1 - x * e).
    destruct (Rle_dec 0 y); [rewrite !Rmax_right by nra | rewrite !Rmax_left by nra]; lra. }
  assert (total (term c r x) <= top) as T.
  { destruct (total_points (around n) (term c r x)) as [S1 T1]. destruct (both_tails_total true d Hd (Z.of_nat n + 1) ltac:(lia)) as [S2 T2].
    unfold top, tail_bound. rewrite <- (sum_ext _ _ _ (fun z _ => Et z)), <- T1, <- T2, <- total_scale, <- total_plus by auto using summable_scale.
    apply total_le; [apply (term_summable c c_pos r x); lra | apply summable_plus; [exact S1 | now apply summable_scale] |]. intro z.
    rewrite at_points_in by apply around_nodup. pose proof (weight_tail true d Hd (Z.of_nat n + 1) z ltac:(lia)) as W. fold (both_tails true d (Z.of_nat n + 1) z) in W.
    pose proof (term_bounds c r x z Hx) as B. fold d in B. rewrite <- (weight_bell d) in B.
    assert (0 <= weight true d (Z.of_nat n + 1) * both_tails true d (Z.of_nat n + 1) z) as B0.
    { apply Rmult_le_pos; [left; apply weight_pos|]. unfold both_tails, geometric. pose proof (fall_bounds true d Hd (Z.of_nat n + 1) ltac:(lia)) as Fb.
      destruct (0 <=? z - (Z.of_nat n + 1))%Z, (0 <=? - z - (Z.of_nat n + 1))%Z; try lra;
        repeat match goal with |- context [?u ^ ?m] => lazymatch goal with H : 0 <= u ^ m |- _ => fail | _ => assert (0 <= u ^ m) by (apply pow_le; lra) end end; lra. }
    destruct (in_dec Z.eq_dec z (around n)) as [I|I]; rewrite around_spec in I; destruct (Z.ltb_spec (Z.abs z) (Z.of_nat n + 1)); (lia || lra). }
  assert (0 <= total (term c r x)) as T0 by (apply total_nonneg; [apply term_summable; lra | intro z; now apply term_bounds]).
  pose proof (height_near i) as K. rewrite Ej in K. fold d in K. pose proof (height_pos c c_pos i) as K0.
  pose proof (theta_near d Hd ltac:(unfold d; apply Rmult_le_reg_r with r; [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra)) as Th. rewrite area_width in Th.
  pose proof (area_pos d Hd) as A. assert (d <= c) as Hdc by (unfold d; apply Rmult_le_reg_r with r; [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; nra).
  assert (d ^ 4 <= c ^ 4) as H4 by (apply pow_incr; lra). pose proof (pow_lt c 4 c_pos).
  unfold together, shifted_excess. fold top. rewrite Ej. set (u := exp (32 * c ^ 4 * INR i)) in *.
  assert (0 < u) by apply exp_pos. pose proof (exp_pos (2 * d ^ 4)) as Ht.
  apply Rle_trans with (u / area d * top); [apply Rmult_le_compat; lra|].
  apply Rle_trans with (u * exp (2 * d ^ 4) * (top / sum (weight true d) (around n))).
  - replace (u * exp (2 * d ^ 4) * (top / sum (weight true d) (around n))) with (u * top * (exp (2 * d ^ 4) / sum (weight true d) (around n))) by (field; lra).
    replace (u / area d * top) with (u * top * / area d) by (field; lra). apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|].
    apply Rmult_le_reg_l with (area d * sum (weight true d) (around n)); [now apply Rmult_lt_0_compat|].
    replace (area d * sum (weight true d) (around n) * / area d) with (sum (weight true d) (around n)) by (field; lra).
    replace (area d * sum (weight true d) (around n) * (exp (2 * d ^ 4) / sum (weight true d) (around n))) with (area d * exp (2 * d ^ 4)) by (field; lra). lra.
  - apply Rmult_le_compat_r; [apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat]|]. unfold u. rewrite <- exp_plus. apply exp_le.
    assert (INR i <= r - 1) by (rewrite <- Ej, S_INR; lra). nra.
Qed.
End Together.

(* The probability that noise exceeds tau. *)
Theorem noise_above c (Hc : 0 < c) tau :
  total (fun z => noise true c Hc z * (if (tau <? z)%Z then 1 else 0)) <= exp (c / 4) * tail (sqrt (2 * c) * (IZR tau + / 2)).
Proof.
  pose proof (later_below c Hc (tau + 1)) as B. rewrite above_tail, area_width in B. rewrite plus_IZR in B.
  replace (IZR tau + 1 - / 2) with (IZR tau + / 2) in B by field. pose proof (width_below c Hc) as W. rewrite area_width in W.
  pose proof (area_pos c Hc) as A. pose proof (later_summable c Hc (tau + 1)) as S.
  assert (total (fun z => noise true c Hc z * (if (tau <? z)%Z then 1 else 0)) = / theta c 0 * later c (tau + 1)) as ->.
  { unfold later. rewrite <- total_scale. f_equal. extensionality z. rewrite noise_bell. unfold from, Rdiv.
    destruct (Z.ltb_spec tau z), (Z.leb_spec (tau + 1) z); try lia; ring. }
  apply Rle_trans with (/ area c * (exp (c / 4) * (area c * tail (sqrt (2 * c) * (IZR tau + / 2))))).
  - apply Rmult_le_compat; [left; apply Rinv_0_lt_compat; lra | | now apply Rinv_le_contravar | exact B].
    apply total_nonneg; [exact S|]. intro z. pose proof (bell_pos c 0 z). unfold from. destruct (tau + 1 <=? z)%Z; lra.
  - right. field. lra.
Qed.

(* The same by a list of m weights, and a geometric series beyond them. *)
Definition next_ones (tau : Z) (m : nat) : list Z := map (fun i => tau + 1 + Z.of_nat i)%Z (seq 0 m).
Theorem noise_above_listed c (Hc : 0 < c) tau m n : (0 <= tau)%Z -> let e := (tau + 1 + Z.of_nat m)%Z in
  total (fun z => noise true c Hc z * (if (tau <? z)%Z then 1 else 0))
    <= (sum (weight true c) (next_ones tau m) + weight true c e * (1 / (1 - fall true c e))) / sum (weight true c) (around n).
Proof.
  intros Ht e. set (w := weight true c). pose proof (fall_bounds true c Hc e ltac:(lia)) as F. destruct (geometric_total _ F) as [G1 G2].
  destruct (shift_total _ e G1) as [S1 S2]. destruct (total_points (next_ones tau m) w) as [P1 P2].
  pose proof (sum_around_pos true c n) as P0. pose proof (mass_of_all_ge true c Hc n) as Ge. pose proof (weight_pos true c e) as We. fold w in We, P0, Ge.
  assert (NoDup (next_ones tau m)) as Hn by (apply FinFun.Injective_map_NoDup; [intros i j E; lia | apply seq_NoDup]).
  set (top := sum w (next_ones tau m) + w e * (1 / (1 - fall true c e))).
  assert (total (fun z => noise true c Hc z * (if (tau <? z)%Z then 1 else 0)) <= / mass_of_all true c * top) as L.
  { unfold top. rewrite <- P2. unfold Rdiv. rewrite Rmult_1_l, <- G2, <- S2, <- (total_scale (w e)), <- total_plus, <- total_scale by (assumption || now apply summable_scale).
    apply total_le.
    - apply (summable_mass (noise true c Hc) (fun z => if (tau <? z)%Z then 1 else 0)). exists 1. intro z. destruct (tau <? z)%Z; rewrite Rabs_pos_eq; lra.
    - apply summable_scale, summable_plus; [exact P1 | now apply summable_scale].
    - intro z. rewrite noise_weight. fold w. rewrite Rmult_assoc. apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; lra|].
      rewrite at_points_in by exact Hn. pose proof (weight_pos true c z) as Wz. fold w in Wz.
      assert (0 <= geometric (fall true c e) (z - e)) as Gz by (unfold geometric; destruct (0 <=? z - e)%Z; [apply pow_le; lra | lra]).
      destruct (Z.ltb_spec tau z) as [T|T]; [|destruct (in_dec Z.eq_dec z (next_ones tau m)); nra].
      destruct (in_dec Z.eq_dec z (next_ones tau m)) as [I|I]; [nra|].
      assert (e <= z)%Z as E.
      { apply Z.nlt_ge. intro E. apply I. apply in_map_iff. exists (Z.to_nat (z - (tau + 1))). split; [lia|]. apply in_seq. lia. }
      unfold geometric. destruct (Z.leb_spec 0 (z - e)); [|lia].
      pose proof (weight_geometric true c Hc e (Z.to_nat (z - e)) ltac:(lia)) as G. replace (e + Z.of_nat (Z.to_nat (z - e)))%Z with z in G by lia. fold w in G. lra. }
  eapply Rle_trans; [exact L|]. unfold Rdiv. rewrite (Rmult_comm _ (/ sum w (around n))). apply Rmult_le_compat_r; [|now apply Rinv_le_contravar].
  unfold top. assert (0 <= sum w (next_ones tau m)) by (apply sum_nonneg; intros; left; apply weight_pos).
  assert (0 < 1 / (1 - fall true c e)) by (apply Rdiv_lt_0_compat; lra). nra.
Qed.

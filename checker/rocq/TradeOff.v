(* mu-Gaussian DP (Dong, Roth, Su 2022): what is seen is no easier to tell from what a neighbour shows than one number with Gaussian noise,
   moved by mu standard deviations. Its two forms, for errors of tests and for the curve, are the same. *)
From Coq Require Import Reals Lra Lia ZArith List.
From Coquelicot Require Import Coquelicot.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Line Moves Normal NormalSum.
Open Scope R_scope.

(* Detections p and false alarms q: if q is at most that of all numbers above c, then so is p, for numbers moved by mu. *)
Definition as_hard_as (mu p q : R) : Prop := forall c, q <= tail gauss c -> p <= tail gauss (c - mu).

Lemma trade_off_from_curve mu p q : 0 < mu -> (forall x, 0 < x -> p - x * q <= gauss_curve mu x) -> as_hard_as mu p q.
Proof.
  intros Hm H c Hq. set (x := exp (mu * (c - mu / 2))). pose proof (exp_pos (mu * (c - mu / 2))) as Hx. fold x in Hx.
  specialize (H x Hx). unfold gauss_curve in H.
  replace (ln x / mu + mu / 2) with c in H by (unfold x; rewrite ln_exp; field; lra). nra.
Qed.

(* Tails end. *)
Lemma tail_small e : 0 < e -> exists c, tail gauss c < e.
Proof.
  intro He. pose proof (half_pos gauss) as Hp. set (c := 1 + / (e * half_area gauss)).
  assert (0 < e * half_area gauss) as Hd by nra. assert (0 < / (e * half_area gauss)) by now apply Rinv_0_lt_compat.
  exists c. assert (0 < c) as Hc by (unfold c; lra). pose proof (half_area_far c Hc) as F. change (gauss c) with (bell c) in F.
  assert (bell c <= 1) as B by apply NormalRenyi.bell_le_1.
  assert (bell c / c <= / c) by (unfold Rdiv; rewrite <- (Rmult_1_l (/ c)) at 2; apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat | exact B]).
  assert (/ c < e * half_area gauss).
  { rewrite <- (Rinv_inv (e * half_area gauss)). apply Rinv_lt_contravar; [nra | unfold c; lra]. }
  unfold tail. apply Rmult_lt_reg_r with (2 * half_area gauss); [lra|].
  replace ((/ 2 - area_of gauss c / (2 * half_area gauss)) * (2 * half_area gauss)) with (half_area gauss - area_of gauss c) by (field; lra). nra.
Qed.

Lemma tail_reaches q : 0 < q < 1 -> exists c, tail gauss c = q.
Proof.
  intros [H0 H1]. destruct (tail_small q H0) as [a Ha]. destruct (tail_small (1 - q) ltac:(lra)) as [b Hb].
  destruct (IVT_gen (tail gauss) (- b) a q) as [c [_ Hc]]; [| |now exists c].
  - intro t. apply continuity_pt_filterlim, tail_continuous.
  - rewrite tail_even. unfold Rmin, Rmax. destruct (Rle_dec (1 - tail gauss b) (tail gauss a)); lra.
Qed.

Theorem curve_from_trade_off mu p q : 0 < mu -> p <= 1 -> 0 <= q <= 1 -> as_hard_as mu p q -> forall x, 0 < x -> p - x * q <= gauss_curve mu x.
Proof.
  intros Hm Hp Hq H x Hx. destruct (Req_dec q 1) as [->|N1]; [pose proof (const_below mu x 1 Hm Hx); lra|].
  destruct (Req_dec q 0) as [->|N0].
  - assert (p <= 0) as P0; [|pose proof (const_below mu x 0 Hm Hx); lra].
    destruct (Rle_dec p 0) as [|L]; [assumption|]. destruct (tail_small p ltac:(lra)) as [c Hc].
    specialize (H (c + mu) (proj1 (tail_bounds _))). replace (c + mu - mu) with c in H by ring. lra.
  - destruct (tail_reaches q ltac:(lra)) as [c Hc]. specialize (H c ltac:(lra)).
    pose proof (largest_value mu x Hm Hx (half_line c)) as B. rewrite half_line_move, !tail_mean in B.
    specialize (B (half_line_test _ _) (half_line_test _ _)). nra.
Qed.

(* Replace-one neighbours have no common order: a rule that gives all steps of a composition the same order is unsound.

   The example has p = (0.5, 0.49, 0.01) and q = (0.35, 0.63, 0.02), twice, at epsilon = 0.95. *)
From Coq Require Import Reals Lra List ZArith.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Finite Fixed Exponential.
Open Scope R_scope.

Definition p : probabilities.
Proof. refine (Probabilities [0.5; 0.49; 0.01] _ _); [repeat constructor; lra | simpl; lra]. Defined.
Definition q : probabilities.
Proof. refine (Probabilities [0.35; 0.63; 0.02] _ _); [repeat constructor; lra | simpl; lra]. Defined.

Definition P := finite p.
Definition Q := finite q.
Definition two_steps (A B C D : law nat) : session := run nat A B (fun _ => run nat C D (fun _ => stop)).

(* delta at epsilon of a session *)
Definition session_dp (eps delta : R) (s : session) : Prop :=
  forall f, decision s f -> mean_first s f - exp eps * mean_second s f <= delta.

Lemma price : 2.5857 <= exp 0.95 <= 2.58571.
Proof.
  pose proof (exponential_holds 40 (ratio 40 19 20) (19 / 20) (ratio_holds 40 19 20)) as H.
  replace (19 / 20) with 0.95 in H by lra.
  assert (exponential 40 (ratio 40 19 20) = Some (2843017836469, 2843017836476)%Z) as E by (vm_compute; reflexivity).
  rewrite E in H. unfold holds, one in H. change (2 ^ 40)%Z with 1099511627776%Z in H. lra.
Qed.

(* An outcome of probability a, or b for the neighbour, that is chosen with probability v. *)
Lemma gain v a b x c : 0 <= v <= 1 -> 0 <= c -> a - x * b <= c -> v * a - x * (v * b) <= c.
Proof. intros. nra. Qed.

Lemma forward_worth (v : nat -> nat -> R) x : (forall i j, 0 <= v i j <= 1) -> 2.5857 <= x <= 2.58571 ->
  weighted p 0 (fun i => weighted p 0 (v i)) - x * weighted q 0 (fun i => weighted q 0 (v i)) <= 0.
Proof.
  intros B Hx. simpl.
  assert (forall i j a b, a - x * b <= 0 -> v i j * a - x * (v i j * b) <= 0) as G by (intros; apply gain; auto; lra).
  pose proof (G 0%nat 0%nat 0.25 0.1225). pose proof (G 0%nat 1%nat 0.245 0.2205). pose proof (G 0%nat 2%nat 0.005 0.007).
  pose proof (G 1%nat 0%nat 0.245 0.2205). pose proof (G 1%nat 1%nat 0.2401 0.3969). pose proof (G 1%nat 2%nat 0.0049 0.0126).
  pose proof (G 2%nat 0%nat 0.005 0.007). pose proof (G 2%nat 1%nat 0.0049 0.0126). pose proof (G 2%nat 2%nat 0.0001 0.0004). lra.
Qed.

Lemma reverse_worth (v : nat -> nat -> R) x : (forall i j, 0 <= v i j <= 1) -> 2.5857 <= x <= 2.58571 ->
  weighted q 0 (fun i => weighted q 0 (v i)) - x * weighted p 0 (fun i => weighted p 0 (v i)) <= 1.4143e-4.
Proof.
  intros B Hx. simpl.
  assert (forall i j a b c, 0 <= c -> a - x * b <= c -> v i j * a - x * (v i j * b) <= c) as G by (intros; apply gain; auto).
  pose proof (G 0%nat 0%nat 0.1225 0.25 0). pose proof (G 0%nat 1%nat 0.2205 0.245 0). pose proof (G 0%nat 2%nat 0.007 0.005 0).
  pose proof (G 1%nat 0%nat 0.2205 0.245 0). pose proof (G 1%nat 1%nat 0.3969 0.2401 0). pose proof (G 1%nat 2%nat 0.0126 0.0049 0).
  pose proof (G 2%nat 0%nat 0.007 0.005 0). pose proof (G 2%nat 1%nat 0.0126 0.0049 0). pose proof (G 2%nat 2%nat 0.0004 0.0001 1.4143e-4). lra.
Qed.

(* Both common orders: what the old rule computed, and called delta. *)
Theorem common_orders :
  session_dp 0.95 1.4143e-4 (two_steps P Q P Q) /\ session_dp 0.95 1.4143e-4 (two_steps Q P Q P).
Proof.
  pose proof price as Hx. split; intros f [Hf _].
  - eapply Rle_trans; [apply (forward_worth (fun i j => f (existT _ i (existT _ j tt)))) | lra]; [|exact Hx].
    intros i j. apply Hf.
  - apply (reverse_worth (fun i j => f (existT _ i (existT _ j tt)))); [|exact Hx]. intros i j. apply Hf.
Qed.

(* Opposite orders, of the same two mechanisms on the same two data sets. *)
Theorem opposite_orders : exists f, decision (two_steps P Q Q P) f /\
  mean_first (two_steps P Q Q P) f - exp 0.95 * mean_second (two_steps P Q Q P) f > 9.5e-4.
Proof.
  pose proof price.
  exists (fun t : transcript (two_steps P Q Q P) => match projT1 t, projT1 (projT2 t) with O, S (S O) => 1 | _, _ => 0 end).
  split.
  - split; [|cbn; auto]. intro i. split; [|cbn; auto]. intro j. cbn. destruct i, j as [|[|[|]]]; lra.
  - simpl. lra.
Qed.

(* The old rule: a number that bounds both common orders was called a bound for replace-one neighbours. *)
Definition old_rule : Prop := forall (A B C D : law nat) (eps delta : R),
  session_dp eps delta (two_steps A B C D) -> session_dp eps delta (two_steps B A D C) ->
  session_dp eps delta (two_steps A B D C) /\ session_dp eps delta (two_steps B A C D).

Theorem old_rule_is_unsound : ~ old_rule.
Proof.
  intro H. destruct common_orders as [H1 H2]. destruct (H P Q P Q 0.95 1.4143e-4 H1 H2) as [H3 _].
  destruct opposite_orders as [f [Hf G]]. specialize (H3 f Hf). lra.
Qed.

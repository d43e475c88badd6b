(* What is random, and what "differentially private" means.

   A law is known by the mean that it gives to each function of the outcome. Laws on countable
   outcomes (Countable.v) give a mean to every bounded function, and laws with a density on the real
   line to every bounded function that can be integrated: such functions are called measurable. *)
From Coq Require Import Reals Lra Lia FunctionalExtensionality.
Open Scope R_scope.

Record law (O : Type) := Law {
  measurable : (O -> R) -> Prop;
  mean : (O -> R) -> R;
  measurable_const : forall c, measurable (fun _ => c);
  measurable_plus : forall f g, measurable f -> measurable g -> measurable (fun o => f o + g o);
  measurable_scale : forall c f, measurable f -> measurable (fun o => c * f o);
  measurable_max : forall f g, measurable f -> measurable g ->
    measurable (fun o => Rmax (f o) (g o));
  mean_const : forall c, mean (fun _ => c) = c;
  mean_plus : forall f g, measurable f -> measurable g ->
    mean (fun o => f o + g o) = mean f + mean g;
  mean_scale : forall c f, measurable f -> mean (fun o => c * f o) = c * mean f;
  mean_le : forall f g, measurable f -> measurable g -> (forall o, f o <= g o) ->
    mean f <= mean g }.
Arguments Law {O}. Arguments measurable {O}. Arguments mean {O}. Arguments measurable_const {O}.
Arguments measurable_plus {O}. Arguments measurable_scale {O}. Arguments measurable_max {O}.
Arguments mean_const {O}. Arguments mean_plus {O}. Arguments mean_scale {O}. Arguments mean_le {O}.

(* An event is a set of outcomes; its probability is the mean of the function that is 1 on it. *)
Definition indicator {O} (S : O -> bool) (o : O) : R := if S o then 1 else 0.
Definition prob {O} (P : law O) (S : O -> bool) : R := mean P (indicator S).

(* P and Q are the laws of the output for two neighbours. *)
Definition dp {O} (eps delta : R) (P Q : law O) : Prop :=
  forall S, measurable P (indicator S) -> measurable Q (indicator S) ->
  prob P S <= exp eps * prob Q S + delta.

(* A mechanism gives each data set a law. Neighbours are any relation: "one user more" has an order,
   "one row replaced" holds both ways. *)
Definition private {D O} (neighbour : D -> D -> Prop) (eps delta : R) (M : D -> law O) : Prop :=
  forall d d', neighbour d d' -> dp eps delta (M d) (M d').

(* A test decides with a probability, after it saw the outcome: it includes every event, followed by
   any randomised decision. *)
Definition test {O} (P : law O) (f : O -> R) : Prop := measurable P f /\ forall o, 0 <= f o <= 1.

(* The curve of a pair is at most G: no test tells P from Q better, at any price x of a false alarm.
   dp-statement/1 calls sup P(S) - x Q(S) the curve, and its value at e^epsilon delta. *)
Definition below {O} (G : R -> R) (P Q : law O) : Prop :=
  forall f, test P f -> test Q f -> forall x, 0 <= x -> mean P f - x * mean Q f <= G x.

Lemma indicator_bounds {O} (S : O -> bool) o : 0 <= indicator S o <= 1.
Proof. unfold indicator. destruct (S o); lra. Qed.

Theorem below_dp {O} G eps delta (P Q : law O) : below G P Q -> G (exp eps) <= delta -> dp eps delta P Q.
Proof.
  intros HG Hd S HP HQ. pose proof (exp_pos eps). unfold prob.
  specialize (HG (indicator S) (conj HP (indicator_bounds S)) (conj HQ (indicator_bounds S)) (exp eps)).
  lra.
Qed.

Lemma below_weaken {O} (F G : R -> R) (P Q : law O) :
  below F P Q -> (forall x, 0 <= x -> F x <= G x) -> below G P Q.
Proof. intros H HFG f Pf Qf x Hx. specialize (H f Pf Qf x Hx). specialize (HFG x Hx). lra. Qed.

(* Functions of a measurable function that tests need. *)
Lemma measurable_shift {O} (P : law O) f c : measurable P f -> measurable P (fun o => f o - c).
Proof. intro Hf. apply (measurable_plus P f (fun _ => - c)); [exact Hf | apply measurable_const]. Qed.

Lemma measurable_min {O} (P : law O) f g : measurable P f -> measurable P g ->
  measurable P (fun o => Rmin (f o) (g o)).
Proof.
  intros Hf Hg.
  replace (fun o => Rmin (f o) (g o)) with (fun o => -1 * Rmax (-1 * f o) (-1 * g o)).
  - apply measurable_scale. apply (measurable_max P (fun o => -1 * f o) (fun o => -1 * g o));
    apply measurable_scale; assumption.
  - extensionality o. unfold Rmin, Rmax. destruct (Rle_dec (f o) (g o)), (Rle_dec (-1 * f o) (-1 * g o)); lra.
Qed.

Lemma mean_bounds {O} (P : law O) f : test P f -> 0 <= mean P f <= 1.
Proof.
  intros [Hm Hf]. rewrite <- (mean_const P 0) at 1. rewrite <- (mean_const P 1). split; apply mean_le;
    try apply measurable_const; try assumption; intro o; apply Hf.
Qed.

Lemma mean_nonneg {O} (P : law O) f : measurable P f -> (forall o, 0 <= f o) -> 0 <= mean P f.
Proof. intros Hm Hf. rewrite <- (mean_const P 0). apply mean_le; [apply measurable_const | assumption | assumption]. Qed.

Lemma measurable_pos {O} (P : law O) f : measurable P f -> measurable P (fun o => Rmax 0 (f o)).
Proof. apply (measurable_max P (fun _ => 0)). apply measurable_const. Qed.

Lemma test_one {O} (P : law O) : test P (fun _ => 1).
Proof. split; [apply measurable_const | intros; lra]. Qed.

Lemma test_not {O} (P : law O) f : test P f -> test P (fun o => 1 - f o).
Proof.
  intros [Hm Hf]. split.
  - replace (fun o => 1 - f o) with (fun o => -1 * f o + 1) by (extensionality o; lra).
    apply (measurable_plus P (fun o => -1 * f o)); [now apply measurable_scale | apply measurable_const].
  - intro o. specialize (Hf o). lra.
Qed.

Lemma mean_not {O} (P : law O) f : measurable P f -> mean P (fun o => 1 - f o) = 1 - mean P f.
Proof.
  intro Hm. replace (fun o => 1 - f o) with (fun o => -1 * f o + 1) by (extensionality o; lra).
  rewrite mean_plus, mean_scale, mean_const; try assumption; try lra; [now apply measurable_scale | apply measurable_const].
Qed.

(* The other order of a pair: the event is the complement. *)
Definition backward (G : R -> R) (x : R) : R := 1 - x + x * G (/ x).

Theorem below_backward {O} G (P Q : law O) : below G P Q ->
  forall f, test P f -> test Q f -> forall x, 0 < x -> mean Q f - x * mean P f <= backward G x.
Proof.
  intros H f Pf Qf x Hx. unfold backward.
  specialize (H _ (test_not P f Pf) (test_not Q f Qf) (/ x) (Rlt_le _ _ (Rinv_0_lt_compat _ Hx))).
  rewrite !mean_not in H by (apply Pf || apply Qf).
  apply (Rmult_le_compat_l x) in H; [|lra].
  replace (x * (1 - mean P f - / x * (1 - mean Q f))) with (x * (1 - mean P f) - (1 - mean Q f)) in H by (field; lra).
  lra.
Qed.

(* Post-processing: whatever is computed from the outcome is a function g of it. *)
Definition image {O T} (g : O -> T) (P : law O) : law T.
Proof.
  refine (Law (fun f => measurable P (fun o => f (g o))) (fun f => mean P (fun o => f (g o)))
    _ _ _ _ _ _ _ _); intros.
  - apply measurable_const.
  - now apply (measurable_plus P (fun o => f (g o))).
  - now apply measurable_scale.
  - now apply (measurable_max P (fun o => f (g o)) (fun o => g0 (g o))).
  - apply mean_const.
  - now apply (mean_plus P (fun o => f (g o))).
  - now apply mean_scale.
  - apply mean_le; auto.
Defined.

Theorem post_processing {O T} (g : O -> T) eps delta (P Q : law O) :
  dp eps delta P Q -> dp eps delta (image g P) (image g Q).
Proof. intros H S. apply (H (fun o => S (g o))). Qed.

Theorem post_processing_curve {O T} (g : O -> T) G (P Q : law O) :
  below G P Q -> below G (image g P) (image g Q).
Proof.
  intros H f [Pf Bf] [Qf _]. apply (H (fun o => f (g o))); split; auto.
Qed.

(* Groups: k steps from neighbour to neighbour. *)
Fixpoint group_delta (eps delta : R) (k : nat) : R :=
  match k with O => 0 | S j => delta + exp eps * group_delta eps delta j end.

Inductive path {D} (neighbour : D -> D -> Prop) : nat -> D -> D -> Prop :=
| path_none d : path neighbour 0 d d
| path_step k d e f : neighbour d e -> path neighbour k e f -> path neighbour (S k) d f.

Theorem group_privacy {D O} (neighbour : D -> D -> Prop) eps delta (M : D -> law O) :
  (forall d S, measurable (M d) (indicator S)) -> private neighbour eps delta M ->
  forall k, private (path neighbour k) (INR k * eps) (group_delta eps delta k) M.
Proof.
  intros Hm Hp k d d' Hpath. induction Hpath as [d|k d e f Hde Hef IH]; intros S H1 H2.
  - simpl. rewrite Rmult_0_l, exp_0. lra.
  - specialize (Hp d e Hde S (Hm d S) (Hm e S)). specialize (IH S (Hm e S) (Hm f S)).
    rewrite S_INR. replace ((INR k + 1) * eps) with (eps + INR k * eps) by lra. rewrite exp_plus.
    cbn [group_delta]. pose proof (exp_pos eps). nra.
Qed.

(* Laws of finitely many outcomes, numbered 0, 1, 2, ... *)
From Coq Require Import Reals Lra Lia List FunctionalExtensionality.
Import ListNotations.
From DP Require Import Law Profile Compose Countable.
Open Scope R_scope.

(* The sum of p_k f(k), from the outcome k = first on. *)
Fixpoint weighted (ps : list R) (first : nat) (f : nat -> R) : R :=
  match ps with [] => 0 | p :: rest => p * f first + weighted rest (S first) f end.

Record probabilities := Probabilities {
  each :> list R;
  each_nonneg : Forall (fun p => 0 <= p) each;
  each_total : sum (fun p => p) each = 1 }.

Lemma weighted_const ps c : forall k, weighted ps k (fun _ => c) = sum (fun p => p) ps * c.
Proof. induction ps; intro k; simpl; [lra|]. rewrite IHps. lra. Qed.
Lemma weighted_plus ps f g : forall k, weighted ps k (fun o => f o + g o) = weighted ps k f + weighted ps k g.
Proof. induction ps; intro k; simpl; [lra|]. rewrite IHps. lra. Qed.
Lemma weighted_scale ps c f : forall k, weighted ps k (fun o => c * f o) = c * weighted ps k f.
Proof. induction ps; intro k; simpl; [lra|]. rewrite IHps. lra. Qed.
Lemma weighted_le ps f g : Forall (fun p => 0 <= p) ps -> (forall o, f o <= g o) ->
  forall k, weighted ps k f <= weighted ps k g.
Proof. intros H Hfg. induction H; intro k; simpl; [lra|]. specialize (IHForall (S k)). specialize (Hfg k). nra. Qed.

Definition finite (ps : probabilities) : law nat.
Proof.
  refine (Law (fun _ => True) (weighted ps 0) _ _ _ _ _ _ _ _); intros; auto.
  - rewrite weighted_const, each_total. lra.
  - apply weighted_plus.
  - apply weighted_scale.
  - apply weighted_le; [apply each_nonneg | assumption].
Defined.

Lemma finite_complete (ps : probabilities) : complete (finite ps).
Proof. intros h _. exact Logic.I. Qed.

(* A pair of laws as the list of (p, q); the sum of positive parts bounds every test. *)
Definition excess (pairs : list (R * R)) (x : R) : R := sum (fun c => pos (fst c - x * snd c)) pairs.

Lemma excess_bounds pairs x f : (forall o, 0 <= f o <= 1) -> forall k,
  weighted (map fst pairs) k f - x * weighted (map snd pairs) k f <= excess pairs x.
Proof.
  intro Hf. unfold excess. induction pairs as [|[p q] rest IH]; intro k; simpl; [lra|].
  specialize (IH (S k)). pose proof (pos_gain (f k) (p - x * q) (Hf k)). nra.
Qed.

Theorem finite_below (P Q : probabilities) (pairs : list (R * R)) :
  each P = map fst pairs -> each Q = map snd pairs -> below (excess pairs) (finite P) (finite Q).
Proof. intros HP HQ f [_ Hf] _ x _. simpl. rewrite HP, HQ. now apply excess_bounds. Qed.

(* The class of one pair, in this order. *)
Inductive just {T : Type} (P Q : law T) : class := is_just : just P Q T P Q.

(* The same class with the order left open: replace-one neighbours, or a pair without a named side. *)
Definition either (C : class) : class := fun Y P Q => C Y P Q \/ C Y Q P.

Theorem bounded_just {T} (P Q : law T) A :
  (forall x, 0 <= x -> hinge x <= curve A x) -> below (curve A) P Q -> bounded A (just P Q).
Proof. intros H0 H. split; [exact H0|]. intros Y P' Q' HC. destruct HC. exact H. Qed.

(* With its own order at each step, a bound of both orders is sound: the larger of both curves. *)
Theorem bounded_either A C : bounded A C -> (forall Y P Q, C Y P Q -> below (curve A) Q P) -> bounded A (either C).
Proof. intros [H0 H] H1. split; [exact H0|]. intros Y P Q [HC|HC]; auto. Qed.

(* Doing nothing is below every curve of a pair. *)
Lemma below_hinge {O} G (P Q : law O) : below G P Q -> (forall x, 0 <= x -> 0 <= G x) ->
  forall x, 0 <= x -> hinge x <= G x.
Proof.
  intros H H0 x Hx. unfold hinge. apply Rmax_lub; [auto|].
  specialize (H (fun _ => 1) (test_one P) (test_one Q) x Hx). rewrite !mean_const in H. lra.
Qed.

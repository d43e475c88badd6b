(* The outcomes of a pair of laws in parts, whose probabilities are enclosed. *)
From Coq Require Import Reals Lra Lia ZArith List Permutation.
Import ListNotations.
From DP Require Import Law Profile Compose Finite Fixed.
Open Scope R_scope.

Section Parts.
Variable p : positive.
Definition cell : Type := ends * ends.

Section Pair.
Context {O : Type}.
Variables P Q : law O.

Definition encloses (f : O -> R) (c : cell) : Prop := holds p (fst c) (mean P f) /\ holds p (snd c) (mean Q f).
Definition good (f : O -> R) : Prop := measurable P f /\ measurable Q f /\ forall o, 0 <= f o.
Definition matches (fs : list (O -> R)) (cs : list cell) : Prop := Forall good fs /\ Forall2 encloses fs cs.
Definition enclosed_parts (cs : list cell) : Prop := exists fs, matches fs cs /\ forall o, sum (fun f => f o) fs <= 1.

Lemma enclosed_permutation cs ds : Permutation cs ds -> enclosed_parts cs -> enclosed_parts ds.
Proof.
  intros Hp [fs [[G E] S]]. destruct (Forall2_permutation encloses cs ds Hp fs E) as [gs [Hg Eg]].
  exists gs. split; [split; [eapply Permutation_Forall; eassumption | exact Eg]|]. intro o. now rewrite <- (sum_permutation _ _ _ Hg).
Qed.
End Pair.

Definition swap (c : cell) : cell := (snd c, fst c).
Lemma enclosed_swap {O} (P Q : law O) cs : enclosed_parts P Q cs -> enclosed_parts Q P (map swap cs).
Proof.
  intros [fs [[G E] S]]. exists fs. split; [|exact S]. split.
  - eapply Forall_impl; [|exact G]. unfold good. tauto.
  - clear - E. induction E as [|f c fs cs [E1 E2] _ IH]; simpl; constructor; [now split | exact IH].
Qed.
End Parts.

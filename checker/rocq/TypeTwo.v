(* The second error of a test. A test f decides for the first neighbour; its first error is E_Q(f), its second 1 - E_P(f). *)
From Coq Require Import Reals Lra Lia List Permutation FunctionalExtensionality.
Import ListNotations.
From DP Require Import Law Profile Compose.
Open Scope R_scope.

(* The other order: the neighbours change places. *)
Fixpoint flip (s : session) : session := match s with stop => stop | run Y P Q next => run Y Q P (fun o => flip (next o)) end.
Fixpoint flipped (s : session) : (transcript s -> R) -> transcript (flip s) -> R :=
  match s with
  | stop => fun f => f
  | run Y P Q next => fun f t => flipped (next (projT1 t)) (fun u => f (existT _ (projT1 t) u)) (projT2 t)
  end.

Lemma flipped_means s : forall f, mean_first (flip s) (flipped s f) = mean_second s f /\ mean_second (flip s) (flipped s f) = mean_first s f.
Proof.
  induction s as [|Y P Q next IH]; intro f; [split; reflexivity|]. cbn [flip mean_first mean_second flipped projT1 projT2].
  split; f_equal; extensionality o; apply (IH o (fun u => f (existT _ o u))).
Qed.

Lemma spends_flipped Cs Ds s : Forall2 (fun C D : class => forall Y P Q, C Y P Q -> D Y Q P) Cs Ds -> spends Cs s -> spends Ds (flip s).
Proof.
  revert Cs Ds. induction s as [|Y P Q next IH]; intros Cs Ds H Hs; [exact Logic.I|]. destruct Hs as [C [rest [Hp [HC Hn]]]].
  assert (Forall2 (fun D C : class => forall Y P Q, C Y P Q -> D Y Q P) Ds Cs) as H' by (clear - H; induction H; constructor; assumption).
  destruct (Forall2_permutation (fun D C : class => forall Y P Q, C Y P Q -> D Y Q P) _ _ Hp _ H') as [Ds' [Hp' HD]].
  inversion HD as [|D ? more ? HDC Hmore]; subst. exists D, more. split; [exact Hp'|]. split; [now apply HDC|].
  intro o. apply (IH o rest more); [|apply Hn]. clear - Hmore. induction Hmore; constructor; assumption.
Qed.

Lemma complement_means s : forall f, decision s f ->
  mean_first s (fun t => 1 - f t) = 1 - mean_first s f /\ mean_second s (fun t => 1 - f t) = 1 - mean_second s f.
Proof.
  induction s as [|Y P Q next IH]; intros f Hf; [split; reflexivity|]. destruct Hf as [Hd [M1 [_ M3]]]. cbn [mean_first mean_second]. split.
  - rewrite <- mean_not by exact M1. f_equal. extensionality o. apply (IH o _ (Hd o)).
  - rewrite <- mean_not by exact M3. f_equal. extensionality o. apply (IH o _ (Hd o)).
Qed.

(* Each test whose first error is at most alpha has a second error of at least this; the test and its complement have means in both orders. *)
Definition second_error_at_least (classes : list class) (alpha bound : R) : Prop :=
  forall s, spends classes s -> forall f, decision s f -> decision (flip s) (flipped s (fun t => 1 - f t)) ->
  mean_second s f <= alpha -> bound <= 1 - mean_first s f.

(* From delta at epsilon, in both orders. *)
Theorem second_error_from_delta Cs Ds epsilon delta alpha bound : Forall2 (fun C D : class => forall Y P Q, C Y P Q -> D Y Q P) Cs Ds ->
  (forall s, spends Cs s -> forall f, decision s f -> mean_first s f - exp epsilon * mean_second s f <= delta) ->
  (forall s, spends Ds s -> forall f, decision s f -> mean_first s f - exp epsilon * mean_second s f <= delta) ->
  delta <= 1 - bound - exp epsilon * alpha \/ delta <= 1 - alpha - exp epsilon * bound ->
  second_error_at_least Cs alpha bound.
Proof.
  intros H H1 H2 Hb s Hs f Hf Hf' Ha. pose proof (exp_pos epsilon) as He. destruct Hb as [Hb|Hb].
  - specialize (H1 s Hs f Hf). nra.
  - specialize (H2 (flip s) (spends_flipped Cs Ds s H Hs) _ Hf'). destruct (flipped_means s (fun t => 1 - f t)) as [E1 E2].
    destruct (complement_means s f Hf) as [C1 C2]. rewrite E1, E2, C1, C2 in H2.
    apply Rmult_le_reg_l with (exp epsilon); [exact He|]. lra.
Qed.

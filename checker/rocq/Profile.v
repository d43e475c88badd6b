(* Profiles: finite laws of the privacy loss, which stand for a whole class of pairs.

   A profile has mass m at the ratio n = e^loss for each of its atoms, and mass at infinity. Its curve
   is delta as a function of x = e^epsilon. *)
From Coq Require Import Reals Lra Lia List Permutation FunctionalExtensionality.
Import ListNotations.
Open Scope R_scope.

Fixpoint sum {A} (f : A -> R) (l : list A) : R :=
  match l with [] => 0 | a :: r => f a + sum f r end.

Lemma sum_app {A} (f : A -> R) l m : sum f (l ++ m) = sum f l + sum f m.
Proof. induction l; simpl; lra. Qed.
Lemma sum_map {A B} (g : A -> B) (f : B -> R) l : sum f (map g l) = sum (fun a => f (g a)) l.
Proof. induction l; simpl; lra. Qed.
Lemma sum_ext {A} (f g : A -> R) l : (forall a, In a l -> f a = g a) -> sum f l = sum g l.
Proof. induction l; simpl; intro H; [reflexivity|]. rewrite IHl, (H a); auto. Qed.
Lemma sum_le {A} (f g : A -> R) l : (forall a, In a l -> f a <= g a) -> sum f l <= sum g l.
Proof.
  induction l; simpl; intro H; [lra|]. pose proof (H a (or_introl eq_refl)).
  enough (sum f l <= sum g l) by lra. auto.
Qed.
Lemma sum_scale {A} c (f : A -> R) l : sum (fun a => c * f a) l = c * sum f l.
Proof. induction l; simpl; lra. Qed.
Lemma sum_plus {A} (f g : A -> R) l : sum (fun a => f a + g a) l = sum f l + sum g l.
Proof. induction l; simpl; lra. Qed.
Lemma sum_nonneg {A} (f : A -> R) l : (forall a, In a l -> 0 <= f a) -> 0 <= sum f l.
Proof. induction l; simpl; intro H; [lra|]. pose proof (H a (or_introl eq_refl)). enough (0 <= sum f l) by lra. auto. Qed.
Lemma sum_swap {A B} (f : A -> B -> R) l m :
  sum (fun a => sum (f a) m) l = sum (fun b => sum (fun a => f a b) l) m.
Proof.
  induction l; simpl.
  - induction m; simpl; lra.
  - rewrite IHl, <- sum_plus. reflexivity.
Qed.
Lemma sum_flat_map {A B} (g : A -> list B) (f : B -> R) l :
  sum f (flat_map g l) = sum (fun a => sum f (g a)) l.
Proof. induction l; simpl; [reflexivity|]. now rewrite sum_app, IHl. Qed.
Lemma sum_permutation {A} (f : A -> R) l m : Permutation l m -> sum f l = sum f m.
Proof. induction 1; simpl; lra. Qed.

Record profile := Profile { infinite : R; atoms : list (R * R) }.  (* (mass, ratio) *)

Definition proper (A : profile) : Prop :=
  0 <= infinite A /\ Forall (fun a => 0 <= fst a /\ 0 < snd a) (atoms A).

(* What the loss of A does to a curve F of everything else: at the ratio n, only x/n is left. *)
Definition act (A : profile) (F : R -> R) (x : R) : R :=
  infinite A * F 0 + sum (fun a => fst a * F (x / snd a)) (atoms A).

Definition hinge (x : R) : R := Rmax 0 (1 - x).  (* the curve of a mechanism that shows nothing *)
Definition curve (A : profile) : R -> R := act A hinge.

(* Independent losses add up: ratios multiply. *)
Definition times (A B : profile) : profile := {|
  infinite := infinite A * (infinite B + sum fst (atoms B)) + sum fst (atoms A) * infinite B;
  atoms := flat_map (fun a => map (fun b => (fst a * fst b, snd a * snd b)) (atoms B)) (atoms A) |}.

Definition nothing : profile := {| infinite := 0; atoms := [(1, 1)] |}.

Lemma hinge_0 : hinge 0 = 1.
Proof. unfold hinge. rewrite Rmax_right; lra. Qed.

Lemma act_ext A F G x : (forall y, F y = G y) -> act A F x = act A G x.
Proof. intro H. f_equal. now extensionality y. Qed.

Lemma act_nothing F x : act nothing F x = F x.
Proof. unfold act; simpl. unfold Rdiv. rewrite Rinv_1, Rmult_1_r. lra. Qed.

Lemma proper_atom A a : proper A -> In a (atoms A) -> 0 <= fst a /\ 0 < snd a.
Proof. intros [_ H]. rewrite Forall_forall in H. apply H. Qed.

Lemma ratio_nonneg x n : 0 <= x -> 0 < n -> 0 <= x / n.
Proof. intros. apply Rmult_le_pos; [assumption|]. left. now apply Rinv_0_lt_compat. Qed.

Lemma act_le A F G x : proper A -> 0 <= x -> (forall y, 0 <= y -> F y <= G y) -> act A F x <= act A G x.
Proof.
  intros HA Hx H. unfold act. apply Rplus_le_compat.
  - apply Rmult_le_compat_l; [apply HA | apply H; lra].
  - apply sum_le. intros a Ha. destruct (proper_atom A a HA Ha). apply Rmult_le_compat_l; [assumption|].
    apply H. now apply ratio_nonneg.
Qed.

Lemma act_unfold A F x :
  act A F x = infinite A * F 0 + sum (fun a => fst a * F (x / snd a)) (atoms A).
Proof. reflexivity. Qed.

Lemma act_0 A F : act A F 0 = (infinite A + sum fst (atoms A)) * F 0.
Proof.
  unfold act. rewrite (sum_ext (fun a : R * R => fst a * F (0 / snd a)) (fun a : R * R => F 0 * fst a)).
  - rewrite sum_scale. lra.
  - intros. unfold Rdiv. rewrite Rmult_0_l. lra.
Qed.

Lemma act_act A B F x : act A (act B F) x
  = infinite A * infinite B * F 0 + infinite A * sum fst (atoms B) * F 0 + sum fst (atoms A) * infinite B * F 0
    + sum (fun a => sum (fun b => fst a * fst b * F (x / snd a / snd b)) (atoms B)) (atoms A).
Proof.
  rewrite act_unfold, act_0.
  rewrite (sum_ext (fun a : R * R => fst a * act B F (x / snd a)) (fun a : R * R => infinite B * F 0 * fst a
    + sum (fun b => fst a * fst b * F (x / snd a / snd b)) (atoms B))).
  - rewrite sum_plus, sum_scale. ring.
  - intros a _. rewrite act_unfold, Rmult_plus_distr_l, <- sum_scale. f_equal; [ring|].
    apply sum_ext. intros. ring.
Qed.

Lemma act_swap A B F x : act A (act B F) x = act B (act A F) x.
Proof.
  rewrite !act_act, sum_swap.
  rewrite (sum_ext (fun b : R * R => sum (fun a : R * R => fst a * fst b * F (x / snd a / snd b)) (atoms A))
                   (fun a : R * R => sum (fun b : R * R => fst a * fst b * F (x / snd a / snd b)) (atoms A))).
  - lra.
  - intros b _. apply sum_ext. intros a _. replace (x / snd a / snd b) with (x / snd b / snd a) by (unfold Rdiv; ring). ring.
Qed.

Lemma times_proper A B : proper A -> proper B -> proper (times A B).
Proof.
  intros HA HB. pose proof HA as [A0 A1]. pose proof HB as [B0 B1].
  assert (forall C, proper C -> 0 <= sum fst (atoms C)) as Hs.
  { intros C HC. apply sum_nonneg. intros a Ha. apply (proper_atom C a HC Ha). }
  split; simpl.
  - pose proof (Hs A HA). pose proof (Hs B HB). nra.
  - apply Forall_flat_map. eapply Forall_impl; [|exact A1]. intros a [Ha Ha'].
    apply Forall_map. eapply Forall_impl; [|exact B1]. intros b [Hb Hb']. simpl. split; nra.
Qed.

Theorem act_times A B F x : proper A -> proper B -> act (times A B) F x = act A (act B F) x.
Proof.
  intros HA HB. rewrite act_act, act_unfold. cbn [times infinite atoms]. rewrite sum_flat_map.
  rewrite (sum_ext (fun a : R * R => sum _ (map _ (atoms B))) (fun a : R * R => sum (fun b => fst a * fst b * F (x / snd a / snd b)) (atoms B))).
  - lra.
  - intros a Ha. rewrite sum_map. apply sum_ext. intros b Hb. simpl.
    destruct (proper_atom A a HA Ha), (proper_atom B b HB Hb).
    replace (x / (snd a * snd b)) with (x / snd a / snd b) by (field; lra). lra.
Qed.

(* All profiles of a list together. *)
Fixpoint chain (As : list profile) : R -> R :=
  match As with [] => hinge | A :: Bs => act A (chain Bs) end.
Fixpoint product (As : list profile) : profile :=
  match As with [] => nothing | A :: Bs => times A (product Bs) end.

Lemma nothing_proper : proper nothing.
Proof. split; simpl; [lra|]. constructor; [simpl; lra | constructor]. Qed.

Lemma product_proper As : Forall proper As -> proper (product As).
Proof. induction 1; simpl; [apply nothing_proper | now apply times_proper]. Qed.

Lemma chain_product As : Forall proper As -> forall x, chain As x = curve (product As) x.
Proof.
  induction 1 as [|A Bs HA HBs IH]; intro x; simpl.
  - unfold curve. now rewrite act_nothing.
  - unfold curve. rewrite act_times by auto using product_proper. now apply act_ext.
Qed.

Theorem chain_permutation As Bs : Permutation As Bs -> forall z, chain As z = chain Bs z.
Proof.
  induction 1; intro z; simpl.
  - reflexivity.
  - now apply act_ext.
  - apply act_swap.
  - now rewrite IHPermutation1.
Qed.

(* B is worse than all of As together. *)
Definition covers (B : profile) (As : list profile) : Prop := forall x, 0 <= x -> chain As x <= curve B x.

Lemma chain_app As Bs x : Forall proper As -> chain (As ++ Bs) x = act (product As) (chain Bs) x.
Proof.
  intro H. revert x. induction H as [|A Cs HA HCs IH]; intro x; simpl.
  - now rewrite act_nothing.
  - rewrite act_times by auto using product_proper. now apply act_ext.
Qed.

(* Bounds of curves survive composition. *)
Theorem covers_times B C As Ds : proper B -> proper C -> Forall proper As -> Forall proper Ds ->
  covers B As -> covers C Ds -> covers (times B C) (As ++ Ds).
Proof.
  intros HB HC HA HD H1 H2 x Hx. unfold curve. rewrite chain_app, act_times by assumption.
  apply Rle_trans with (act (product As) (curve C) x).
  - apply act_le; auto using product_proper.
  - unfold curve. rewrite act_swap, (act_swap B C). apply act_le; auto.
    intros y Hy. fold (curve (product As)). rewrite <- chain_product by assumption. now apply H1.
Qed.

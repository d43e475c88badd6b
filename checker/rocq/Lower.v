(* Bounds from below: one pair of laws attains a profile, and a composition of such pairs attains the product. *)
From Coq Require Import Reals Lra Lia List FunctionalExtensionality.
Import ListNotations.
From DP Require Import Law Profile Compose.
Open Scope R_scope.

(* Some of the outcomes to each part: functions >= 0 whose sum is at most 1. *)
Definition portions {O} (P Q : law O) (fs : list (O -> R)) : Prop :=
  Forall (fun f => measurable P f /\ measurable Q f /\ forall o, 0 <= f o) fs /\ forall o, sum (fun f => f o) fs <= 1.

(* The part of an atom of mass m and ratio n has at least the probability m, and at most m/n for the neighbour. *)
Definition attained {O} (A : profile) (P Q : law O) : Prop := exists far fs, portions P Q (far :: fs)
  /\ infinite A <= mean P far /\ mean Q far <= 0
  /\ Forall2 (fun f a => fst a <= mean P f /\ mean Q f <= fst a / snd a) fs (atoms A).

Definition attained_by (A : profile) (C : class) : Prop := forall Y P Q, C Y P Q -> attained A P Q.

(* The runs of a composition in the order of a list, without a choice: one pair of neighbours, one order for all runs. *)
Fixpoint attains (Cs : list class) (s : session) : Prop :=
  match Cs with
  | [] => s = stop
  | C :: rest => exists Y (P Q : law Y) next, s = run Y P Q (fun _ => next) /\ C Y P Q /\ attains rest next
  end.

(* A decision that is at most c. *)
Fixpoint limited_by (c : R) (s : session) : (transcript s -> R) -> Prop :=
  match s with
  | stop => fun f => 0 <= f tt <= c
  | run Y P Q next => fun f =>
      (forall o, limited_by c (next o) (fun t => f (existT _ o t)))
      /\ measurable P (fun o => mean_first (next o) (fun t => f (existT _ o t)))
      /\ measurable P (fun o => mean_second (next o) (fun t => f (existT _ o t)))
      /\ measurable Q (fun o => mean_second (next o) (fun t => f (existT _ o t)))
  end.

Lemma limited_decision s : forall f, limited_by 1 s f <-> decision s f.
Proof.
  induction s as [|Y P Q next IH]; intro f; simpl; [tauto|].
  split; intros [H M]; (split; [|exact M]); intro o; apply IH, H.
Qed.

Lemma limited_le s c d : c <= d -> forall f, limited_by c s f -> limited_by d s f.
Proof.
  intro H. induction s as [|Y P Q next IH]; intro f; simpl; [lra|]. intros [Hd M]. split; [|exact M]. intro o. apply IH, Hd.
Qed.

(* Sums of decisions, each in its share. *)
Lemma limited_sum s : forall c d u v f g, 0 <= u -> 0 <= v -> limited_by c s f -> limited_by d s g ->
  limited_by (u * c + v * d) s (fun t => u * f t + v * g t)
  /\ mean_first s (fun t => u * f t + v * g t) = u * mean_first s f + v * mean_first s g
  /\ mean_second s (fun t => u * f t + v * g t) = u * mean_second s f + v * mean_second s g.
Proof.
  induction s as [|Y P Q next IH]; intros c d u v f g Hu Hv Hf Hg.
  - simpl in *. split; [nra | split; reflexivity].
  - destruct Hf as [F [F1 [F2 F3]]]. destruct Hg as [G [G1 [G2 G3]]].
    assert (forall o, mean_first (next o) (fun t => u * f (existT _ o t) + v * g (existT _ o t))
      = u * mean_first (next o) (fun t => f (existT _ o t)) + v * mean_first (next o) (fun t => g (existT _ o t))) as E1
      by (intro o; apply (IH o c d u v _ _ Hu Hv (F o) (G o))).
    assert (forall o, mean_second (next o) (fun t => u * f (existT _ o t) + v * g (existT _ o t))
      = u * mean_second (next o) (fun t => f (existT _ o t)) + v * mean_second (next o) (fun t => g (existT _ o t))) as E2
      by (intro o; apply (IH o c d u v _ _ Hu Hv (F o) (G o))).
    apply functional_extensionality in E1, E2. cbn [limited_by mean_first mean_second]. rewrite E1, E2.
    assert (forall (R0 : law Y) h k, measurable R0 h -> measurable R0 k -> measurable R0 (fun o => u * h o + v * k o)
      /\ mean R0 (fun o => u * h o + v * k o) = u * mean R0 h + v * mean R0 k) as L.
    { intros R0 h k Hh Hk. split.
      - apply (measurable_plus R0 (fun o => u * h o)); now apply measurable_scale.
      - rewrite (mean_plus R0 (fun o => u * h o)) by now apply measurable_scale. now rewrite !mean_scale. }
    split; [|split; apply L; assumption]. split; [|repeat split; apply L; assumption].
    intro o. apply (IH o c d u v _ _ Hu Hv (F o) (G o)).
Qed.

Lemma limited_nothing s : limited_by 0 s (fun _ => 0) /\ mean_first s (fun _ => 0) = 0 /\ mean_second s (fun _ => 0) = 0.
Proof.
  induction s as [|Y P Q next IH]; cbn [limited_by mean_first mean_second]; [repeat split; lra|].
  assert ((fun o => mean_first (next o) (fun _ => 0)) = fun _ => 0) as -> by (apply functional_extensionality; intro o; apply IH).
  assert ((fun o => mean_second (next o) (fun _ => 0)) = fun _ => 0) as -> by (apply functional_extensionality; intro o; apply IH).
  rewrite !mean_const. repeat split; try apply measurable_const. intro o. apply IH.
Qed.

(* One step, whose outcome o is in the part f to the extent f(o), and a decision for each part. *)

Lemma step_by_parts {Y} (P Q : law Y) next (items : list ((Y -> R) * (transcript next -> R))) :
  Forall (fun i => (measurable P (fst i) /\ measurable Q (fst i) /\ forall o, 0 <= fst i o) /\ decision next (snd i)) items ->
  (forall o, sum (fun i => fst i o) items <= 1) ->
  exists f, decision (run Y P Q (fun _ => next)) f
    /\ mean_first (run Y P Q (fun _ => next)) f = sum (fun i => mean P (fst i) * mean_first next (snd i)) items
    /\ mean_second (run Y P Q (fun _ => next)) f = sum (fun i => mean Q (fst i) * mean_second next (snd i)) items.
Proof.
  intros H H1.
  set (at_outcome := fun (o : Y) (t : transcript next) => sum (fun i : (Y -> R) * (transcript next -> R) => fst i o * snd i t) items).
  exists (fun t : transcript (run Y P Q (fun _ => next)) => at_outcome (projT1 t) (projT2 t)).
  change (((forall o, decision next (at_outcome o)) /\ measurable P (fun o => mean_first next (at_outcome o))
    /\ measurable P (fun o => mean_second next (at_outcome o)) /\ measurable Q (fun o => mean_second next (at_outcome o)))
    /\ mean P (fun o => mean_first next (at_outcome o)) = sum (fun i => mean P (fst i) * mean_first next (snd i)) items
    /\ mean Q (fun o => mean_second next (at_outcome o)) = sum (fun i => mean Q (fst i) * mean_second next (snd i)) items).
  assert (forall o, limited_by (sum (fun i => fst i o) items) next (at_outcome o)
    /\ mean_first next (at_outcome o) = sum (fun i => fst i o * mean_first next (snd i)) items
    /\ mean_second next (at_outcome o) = sum (fun i => fst i o * mean_second next (snd i)) items) as S.
  { intro o. unfold at_outcome. clear H1. induction H as [|[f g] items [[_ [_ H0]] Hg] _ IH]; cbn [sum fst snd] in *; [apply limited_nothing|].
    destruct IH as [I1 [I2 I3]].
    destruct (limited_sum next 1 (sum (fun i => fst i o) items) (f o) 1 g (fun t => sum (fun i => fst i o * snd i t) items)
      (H0 o) ltac:(lra) (proj2 (limited_decision next g) Hg) I1) as [L1 [L2 L3]].
    replace (fun t => f o * g t + sum (fun i => fst i o * snd i t) items)
      with (fun t => f o * g t + 1 * sum (fun i => fst i o * snd i t) items) by (extensionality t; ring).
    split; [|split; [rewrite L2, I2 | rewrite L3, I3]; ring].
    replace (f o + sum (fun i => fst i o) items) with (f o * 1 + 1 * sum (fun i => fst i o) items) by ring. exact L1. }
  assert ((fun o => mean_first next (at_outcome o)) = fun o => sum (fun i => fst i o * mean_first next (snd i)) items) as ->
    by (extensionality o; apply S).
  assert ((fun o => mean_second next (at_outcome o)) = fun o => sum (fun i => fst i o * mean_second next (snd i)) items) as ->
    by (extensionality o; apply S).
  assert (forall (R0 : law Y) (w : (Y -> R) * (transcript next -> R) -> R), Forall (fun i => measurable R0 (fst i)) items ->
    measurable R0 (fun o => sum (fun i => fst i o * w i) items)
    /\ mean R0 (fun o => sum (fun i => fst i o * w i) items) = sum (fun i => mean R0 (fst i) * w i) items) as L.
  { intros R0 w HR. clear - HR. induction HR as [|[f g] items Hf _ [I1 I2]]; cbn [sum fst snd] in *.
    - split; [apply measurable_const | apply mean_const].
    - replace (fun o => f o * w (f, g) + sum (fun i => fst i o * w i) items)
        with (fun o => w (f, g) * f o + sum (fun i => fst i o * w i) items) by (extensionality o; ring).
      split; [apply (measurable_plus R0 (fun o => w (f, g) * f o)); [now apply measurable_scale | exact I1]|].
      rewrite (mean_plus R0 (fun o => w (f, g) * f o)) by first [now apply measurable_scale | exact I1].
      rewrite mean_scale, I2 by exact Hf. ring. }
  assert (Forall (fun i => measurable P (fst i)) items) as MP by (eapply Forall_impl; [|exact H]; intros i Hi; apply Hi).
  assert (Forall (fun i => measurable Q (fst i)) items) as MQ by (eapply Forall_impl; [|exact H]; intros i Hi; apply Hi).
  split; [|split; apply L; assumption]. split; [|repeat split; apply L; assumption].
  intro o. apply limited_decision. apply (limited_le next _ 1 (H1 o)). apply S.
Qed.

(* The product of the profiles is attained, at every price x by a decision of its own. *)
Theorem composition_from_below As Cs : Forall proper As -> Forall2 attained_by As Cs ->
  forall s, attains Cs s -> forall x, 0 <= x -> exists f, decision s f /\ chain As x <= mean_first s f - x * mean_second s f.
Proof.
  intros HA HC. revert HA. induction HC as [|A C As Cs H _ IH]; intros HA s Hs x Hx.
  - simpl in Hs. subst s. simpl. unfold hinge. destruct (Rle_dec 0 (1 - x)).
    + exists (fun _ => 1). rewrite Rmax_right by lra. split; lra.
    + exists (fun _ => 0). rewrite Rmax_left by lra. split; lra.
  - destruct Hs as [Y [P [Q [next [-> [HPQ Hn]]]]]]. inversion HA as [|? ? PA PB]; subst.
    destruct (H Y P Q HPQ) as [far [fs [[Hp H1] [F1 [F2 Hf]]]]]. specialize (IH PB next Hn).
    inversion Hp as [|? ? Hfar Hfs]; subst.
    (* a decision for each atom *)
    assert (exists items : list ((Y -> R) * (transcript next -> R)),
      map fst items = fs /\ Forall (fun i => decision next (snd i)) items
      /\ sum (fun a => fst a * chain As (x / snd a)) (atoms A)
         <= sum (fun i => mean P (fst i) * mean_first next (snd i)) items - x * sum (fun i => mean Q (fst i) * mean_second next (snd i)) items) as [items [E [D V]]].
    { destruct PA as [_ PA]. clear - Hf PA IH Hx Hfs. induction Hf as [|f a fs atoms [G1 G2] _ IHf].
      - exists []. simpl. repeat split; [constructor | lra].
      - inversion PA as [|? ? [A0 A1] PA']; subst. inversion Hfs as [|? ? [Mf [Mf' F0]] Hfs']; subst.
        destruct (IHf PA' Hfs') as [items [E [D V]]].
        destruct (IH (x / snd a) (ratio_nonneg x _ Hx A1)) as [g [Dg Vg]].
        exists ((f, g) :: items). simpl. split; [now rewrite E|]. split; [now constructor|].
        pose proof (mean_first_bounds next g Dg). pose proof (mean_second_bounds next g Dg).
        assert (fst a * chain As (x / snd a) <= mean P f * mean_first next g - x * (mean Q f * mean_second next g)); [|lra].
        apply Rle_trans with (fst a * (mean_first next g - x / snd a * mean_second next g)); [apply Rmult_le_compat_l; lra|].
        replace (fst a * (mean_first next g - x / snd a * mean_second next g))
          with (fst a * mean_first next g - x * (fst a / snd a * mean_second next g)) by (field; lra).
        assert (fst a * mean_first next g <= mean P f * mean_first next g) by (apply Rmult_le_compat_r; lra).
        assert (mean Q f * mean_second next g <= fst a / snd a * mean_second next g) by (apply Rmult_le_compat_r; lra). nra. }
    destruct (IH 0 (Rle_refl 0)) as [g [Dg Vg]]. rewrite Rmult_0_l, Rminus_0_r in Vg.
    destruct (step_by_parts P Q next ((far, g) :: items)) as [f [Df [E1 E2]]].
    + constructor; [split; assumption|]. subst fs. clear - Hfs D. rewrite Forall_map in Hfs.
      induction items as [|i items IHi]; constructor; inversion Hfs; inversion D; subst; auto.
    + intro o. specialize (H1 o). rewrite <- E in H1. simpl in *. now rewrite sum_map in H1.
    + exists f. split; [exact Df|]. rewrite E1, E2. cbn [sum fst snd chain]. rewrite act_unfold.
      pose proof (mean_first_bounds next g Dg). pose proof (mean_second_bounds next g Dg).
      destruct PA as [I0 _].
      assert (infinite A * chain As 0 <= mean P far * mean_first next g).
      { apply Rle_trans with (infinite A * mean_first next g); [apply Rmult_le_compat_l | apply Rmult_le_compat_r]; lra. }
      assert (0 <= x * - (mean Q far * mean_second next g)) by (apply Rmult_le_pos; nra).
      lra.
Qed.

(* A profile whose curve is below that of all of As together. *)
Definition under (B : profile) (As : list profile) : Prop := forall x, 0 <= x -> curve B x <= chain As x.

Theorem under_times B C As Ds : proper B -> proper C -> Forall proper As -> Forall proper Ds ->
  under B As -> under C Ds -> under (times B C) (As ++ Ds).
Proof.
  intros HB HC HA HD H1 H2 x Hx. unfold curve. rewrite chain_app, act_times by assumption.
  apply Rle_trans with (act (product As) (curve C) x).
  - unfold curve. rewrite (act_swap B C), (act_swap (product As) C). apply act_le; auto.
    intros y Hy. fold (curve (product As)). rewrite <- chain_product by assumption. now apply H1.
  - apply act_le; auto using product_proper.
Qed.

(* All ratios divided by c > 0. *)
Definition lowered (c : R) (A : profile) : profile :=
  {| infinite := infinite A; atoms := map (fun a => (fst a, snd a / c)) (atoms A) |}.

Lemma lowered_proper c A : 0 < c -> proper A -> proper (lowered c A).
Proof.
  intros Hc [H0 H]. split; [exact H0|]. simpl. apply Forall_map. eapply Forall_impl; [|exact H]. intros a [H1 H2]. simpl.
  split; [exact H1|]. apply Rmult_lt_0_compat; [exact H2 | now apply Rinv_0_lt_compat].
Qed.

Lemma act_lowered c A F x : 0 < c -> proper A -> act (lowered c A) F x = act A F (c * x).
Proof.
  intros Hc HA. unfold act. simpl. rewrite sum_map. f_equal. apply sum_ext. intros a Ha. simpl.
  destruct (proper_atom A a HA Ha). do 2 f_equal. field. lra.
Qed.

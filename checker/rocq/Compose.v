(* Adaptive composition: bounds of every step's curve bound the whole. *)
From Coq Require Import Reals Lra Lia List Permutation Sorted FunctionalExtensionality.
Import ListNotations.
From DP Require Import Law Profile.
Open Scope R_scope.

(* A session of an adaptive analyst: in each step a mechanism runs on the data, and its outcome decides what comes next.
   P and Q are the laws of the step's outcome for the two neighbours. *)
Inductive session : Type :=
| stop
| run (Y : Type) (P Q : law Y) (next : Y -> session).

(* All that was seen. *)
Fixpoint transcript (s : session) : Type :=
  match s with stop => unit | run Y _ _ next => { o : Y & transcript (next o) } end.

(* The mean of a function of the transcript, for the first neighbour and for the second. *)
Fixpoint mean_first (s : session) : (transcript s -> R) -> R :=
  match s with
  | stop => fun f => f tt
  | run Y P _ next => fun f => mean P (fun o => mean_first (next o) (fun t => f (existT _ o t)))
  end.
Fixpoint mean_second (s : session) : (transcript s -> R) -> R :=
  match s with
  | stop => fun f => f tt
  | run Y _ Q next => fun f => mean Q (fun o => mean_second (next o) (fun t => f (existT _ o t)))
  end.

(* A decision from the transcript whose means exist. Over countable outcomes this is every function from 0 to 1. *)
Fixpoint decision (s : session) : (transcript s -> R) -> Prop :=
  match s with
  | stop => fun f => 0 <= f tt <= 1
  | run Y P Q next => fun f =>
      (forall o, decision (next o) (fun t => f (existT _ o t)))
      /\ measurable P (fun o => mean_first (next o) (fun t => f (existT _ o t)))
      /\ measurable P (fun o => mean_second (next o) (fun t => f (existT _ o t)))
      /\ measurable Q (fun o => mean_second (next o) (fun t => f (existT _ o t)))
  end.

(* The steps spend the classes of a list, in any order that the analyst chooses as outcomes arrive. A class says which
   pairs of laws a step may have. *)
(* Lists of profiles and of classes are permuted together. *)
Lemma Forall2_permutation {A B} (Rel : A -> B -> Prop) l m : Permutation l m -> forall k, Forall2 Rel k l ->
  exists k', Permutation k k' /\ Forall2 Rel k' m.
Proof.
  induction 1; intros k Hk.
  - exists k. split; [reflexivity | assumption].
  - inversion Hk; subst. destruct (IHPermutation _ H4) as [k' [P1 P2]]. exists (x0 :: k'). split; [now apply perm_skip | now constructor].
  - inversion Hk as [|? ? ? ? H1 H2]; subst. inversion H2; subst. eexists. split; [apply perm_swap | repeat constructor; assumption].
  - destruct (IHPermutation1 _ Hk) as [k1 [P1 Q1]]. destruct (IHPermutation2 _ Q1) as [k2 [P2 Q2]].
    exists k2. split; [now transitivity k1 | assumption].
Qed.

Definition class := forall Y : Type, law Y -> law Y -> Prop.
Fixpoint spends (Cs : list class) (s : session) : Prop :=
  match s with
  | stop => True
  | run Y P Q next => exists C rest,
      Permutation Cs (C :: rest) /\ C Y P Q /\ forall o, spends rest (next o)
  end.

(* One analyst, one pair of neighbours: what a session shows is worth at most G. *)
Definition session_below (G : R -> R) (s : session) : Prop :=
  forall f, decision s f -> forall x, 0 <= x -> mean_first s f - x * mean_second s f <= G x.

(* A bounds every pair of the class, and a step that is left out. *)
Definition bounded (A : profile) (C : class) : Prop :=
  (forall x, 0 <= x -> hinge x <= curve A x) /\ forall Y P Q, C Y P Q -> below (curve A) P Q.

(* Neyman and Pearson's best test against a profile: the atoms of largest ratio first, filled until the false alarms
   reach h. *)
Definition share (m n h : R) : R := Rmin 1 (Rmax 0 (h * n / m)).
Fixpoint filled (l : list (R * R)) (h : R) : R :=  (* the mass that is filled *)
  match l with
  | [] => 0
  | (m, n) :: rest => (if Req_EM_T m 0 then 0 else m * share m n h) + filled rest (h - m / n)
  end.

Definition descending (l : list (R * R)) : Prop := StronglySorted (fun a b => snd b <= snd a) l.
Definition masses (l : list (R * R)) : Prop := Forall (fun a => 0 <= fst a /\ 0 < snd a) l.

Lemma filled_negative l h : masses l -> h <= 0 -> filled l h = 0.
Proof.
  intro H. revert h. induction H as [|[m n] l [Hm Hn] Hl IH]; intros h Hh; simpl in *; [reflexivity|].
  assert (0 <= m / n) by (apply ratio_nonneg; lra).
  rewrite IH by lra. destruct (Req_EM_T m 0); [lra|]. unfold share.
  assert (h * n / m <= 0) by (unfold Rdiv; rewrite Rmult_assoc; assert (0 < n * / m) by (apply Rmult_lt_0_compat; [lra | apply Rinv_0_lt_compat; lra]); nra).
  rewrite (Rmax_left 0) by lra. rewrite Rmin_right by lra. lra.
Qed.

(* Duality: below the curve at every ratio means below what is filled. *)
Lemma below_filled l : masses l -> descending l -> forall inf g h, 0 <= h ->
  (forall y, 0 <= y -> g - y * h <= inf + sum (fun a => fst a * hinge (y / snd a)) l) ->
  g <= inf + filled l h.
Proof.
  intros Hl. induction Hl as [|[m n] l [Hm Hn] Hl IH]; intros Hd inf g h Hh H; simpl in *.
  - specialize (H 0 (Rle_refl 0)). lra.
  - inversion Hd as [|? ? Hs Hf]; subst.
    destruct (Req_EM_T m 0) as [->|Hne].
    { replace (h - 0 / n) with h by (field; lra). rewrite Rplus_0_l. apply IH; try assumption.
      intros y Hy. specialize (H y Hy). lra. }
    destruct (Rle_dec h (m / n)) as [Hc|Hc].
    + rewrite (filled_negative l) by (auto; lra).
      specialize (H n (Rlt_le _ _ Hn)).
      assert (sum (fun a => fst a * hinge (n / snd a)) l = 0) as E.
      { clear - Hl Hf Hn. induction Hl as [|[m' n'] l [Hm' Hn'] Hl IH]; simpl; [reflexivity|].
        inversion Hf; subst. simpl in *. rewrite IH by assumption. unfold hinge. rewrite Rmax_left; [lra|].
        assert (1 <= n / n'); [|lra]. apply Rmult_le_reg_r with n'; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
      rewrite E in H. unfold hinge in H. replace (n / n) with 1 in H by (field; lra). rewrite Rmax_left in H by lra.
      unfold share. assert (0 <= h * n / m) by (apply ratio_nonneg; nra).
      assert (h * n / m <= 1).
      { apply Rmult_le_reg_r with (m / n); [apply Rmult_lt_0_compat; [lra | now apply Rinv_0_lt_compat]|].
        replace (h * n / m * (m / n)) with h by (field; lra). lra. }
      rewrite Rmax_right, Rmin_right by lra. replace (m * (h * n / m)) with (h * n) by (field; lra). lra.
    + assert (share m n h = 1) as E.
      { unfold share. assert (1 <= h * n / m).
        { apply Rmult_le_reg_r with (m / n); [apply Rmult_lt_0_compat; [lra | now apply Rinv_0_lt_compat]|].
          replace (h * n / m * (m / n)) with h by (field; lra). lra. }
        rewrite Rmax_right, Rmin_left; lra. }
      rewrite E, Rmult_1_r, <- Rplus_assoc. apply IH; try assumption; [lra|]. intros y Hy.
      (* only ratios up to n matter: beyond, the curve of l is flat *)
      destruct (Rle_dec y n) as [Hyn|Hyn].
      * specialize (H y Hy). unfold hinge at 1 in H. rewrite Rmax_right in H.
        -- replace (m * (1 - y / n)) with (m - y * (m / n)) in H by (field; lra). lra.
        -- assert (y / n <= 1); [|lra]. apply Rmult_le_reg_r with n; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
      * specialize (H n (Rlt_le _ _ Hn)). unfold hinge at 1 in H. replace (n / n) with 1 in H by (field; lra). rewrite Rmax_left in H by lra.
        assert (sum (fun a => fst a * hinge (n / snd a)) l = 0) as E0.
        { clear - Hl Hf Hn. induction Hl as [|[m' n'] l [Hm' Hn'] Hl IH]; simpl; [reflexivity|].
          inversion Hf; subst. simpl in *. rewrite IH by assumption. unfold hinge. rewrite Rmax_left; [lra|].
          assert (1 <= n / n'); [|lra]. apply Rmult_le_reg_r with n'; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
        rewrite E0 in H.
        assert (0 <= sum (fun a => fst a * hinge (y / snd a)) l).
        { apply sum_nonneg. intros a Ha. unfold masses in Hl. rewrite Forall_forall in Hl. destruct (Hl a Ha).
          apply Rmult_le_pos; [assumption|]. apply Rmax_l. }
        assert (n * h = n * (h - m / n) + m) by (field; lra). nra.
Qed.

Lemma test_share {O} (P : law O) h m n : 0 < m -> measurable P h -> test P (fun o => share m n (h o)).
Proof.
  intros Hm Hh. split.
  - apply (measurable_min P (fun _ => 1)); [apply measurable_const|].
    apply (measurable_pos P (fun o => h o * n / m)).
    replace (fun o => h o * n / m) with (fun o => n / m * h o) by (extensionality o; field; lra). now apply measurable_scale.
  - intro o. unfold share, Rmin, Rmax. destruct (Rle_dec 0 (h o * n / m)); destruct (Rle_dec _ _); lra.
Qed.

Lemma measurable_filled {O} (P : law O) l : masses l -> forall h, measurable P h -> measurable P (fun o => filled l (h o)).
Proof.
  induction 1 as [|[m n] l [Hm Hn] Hl IH]; intros h Hh; simpl; [apply measurable_const|]. simpl in *.
  apply (measurable_plus P (fun o => if Req_EM_T m 0 then 0 else m * share m n (h o))).
  - destruct (Req_EM_T m 0); [apply measurable_const|]. apply measurable_scale. apply test_share; [lra | assumption].
  - apply (IH (fun o => h o - m / n)). now apply measurable_shift.
Qed.

(* What is filled is worth at most the curve of the first step, moved by each ratio. *)
Lemma filled_worth {O} (P Q : law O) G l : masses l -> below G P Q -> (forall x, 0 <= x -> 0 <= G x) ->
  forall h x, 0 <= x -> measurable P h -> measurable Q h ->
  mean P (fun o => filled l (h o)) - x * mean Q (fun o => Rmax 0 (h o)) <= sum (fun a => fst a * G (x / snd a)) l.
Proof.
  intros Hl HG G0. induction Hl as [|[m n] l [Hm Hn] Hl IH]; intros h x Hx HP HQ; simpl in *.
  - rewrite mean_const. assert (0 <= mean Q (fun o => Rmax 0 (h o))); [|nra].
    apply mean_nonneg; [now apply measurable_pos | intro; apply Rmax_l].
  - assert (measurable Q (fun o => Rmax 0 (h o))) as MQ by now apply measurable_pos.
    assert (0 <= m / n) by (apply ratio_nonneg; lra).
    specialize (IH (fun o => h o - m / n) x Hx (measurable_shift P h _ HP) (measurable_shift Q h _ HQ)). cbn beta in IH.
    assert (measurable Q (fun o => Rmax 0 (h o - m / n))) as MQ' by (apply (measurable_pos Q (fun o => h o - m / n)); now apply measurable_shift).
    destruct (Req_EM_T m 0) as [->|Hne].
    + replace (fun o => 0 + filled l (h o - 0 / n)) with (fun o => filled l (h o - 0 / n)) by (extensionality o; lra).
      assert (mean Q (fun o => Rmax 0 (h o - 0 / n)) <= mean Q (fun o => Rmax 0 (h o))).
      { apply mean_le; try assumption. intro o. apply Rle_max_compat_l. lra. }
      nra.
    + rewrite (mean_plus P (fun o => m * share m n (h o))).
      2: { apply measurable_scale. apply test_share; [lra | assumption]. }
      2: { apply (measurable_filled P l Hl (fun o => h o - m / n)). now apply measurable_shift. }
      rewrite mean_scale by (apply test_share; [lra | assumption]).
      assert (mean Q (fun o => m / n * share m n (h o) + Rmax 0 (h o - m / n)) <= mean Q (fun o => Rmax 0 (h o))) as Hsplit.
      { apply mean_le.
        - apply (measurable_plus Q (fun o => m / n * share m n (h o))); [apply measurable_scale; apply test_share; [lra | assumption] | assumption].
        - assumption.
        - intro o. unfold share. assert (0 < m / n) by (apply Rmult_lt_0_compat; [lra | now apply Rinv_0_lt_compat]).
          replace (h o * n / m) with (h o / (m / n)) by (field; lra). set (c := m / n) in *.
          destruct (Rle_dec (h o) 0) as [L|L].
          + assert (h o / c <= 0) by (unfold Rdiv; assert (0 < / c) by (now apply Rinv_0_lt_compat); nra).
            rewrite (Rmax_left 0 (h o / c)), Rmin_right, Rmax_left, Rmax_left by lra. lra.
          + assert (0 < h o / c) by (apply Rmult_lt_0_compat; [lra | now apply Rinv_0_lt_compat]).
            rewrite (Rmax_right 0 (h o / c)) by lra. rewrite (Rmax_right 0 (h o)) by lra.
            assert (c * (h o / c) = h o) by (field; lra).
            destruct (Rle_dec (h o) c).
            * rewrite (Rmax_left 0 (h o - c)) by lra. pose proof (Rmin_r 1 (h o / c)). nra.
            * rewrite (Rmax_right 0 (h o - c)) by lra. pose proof (Rmin_l 1 (h o / c)). nra. }
      assert (0 < m) as Hm' by lra.
      rewrite (mean_plus Q (fun o => m / n * share m n (h o))) in Hsplit
        by first [assumption | apply measurable_scale; now apply test_share].
      rewrite mean_scale in Hsplit by now apply test_share.
      pose proof (HG _ (test_share P h m n Hm' HP) (test_share Q h m n Hm' HQ) (x / n) (ratio_nonneg x n Hx Hn)) as H1.
      set (a := mean P (fun o => share m n (h o))) in *. set (b := mean Q (fun o => share m n (h o))) in *.
      apply (Rmult_le_compat_l m) in H1; [|lra].
      replace (m * (a - x / n * b)) with (m * a - x * (m / n * b)) in H1 by (field; lra).
      nra.
Qed.

Fixpoint insert (a : R * R) (l : list (R * R)) : list (R * R) :=
  match l with [] => [a] | b :: r => if Rle_dec (snd b) (snd a) then a :: l else b :: insert a r end.

Lemma insert_permutation a l : Permutation (a :: l) (insert a l).
Proof.
  induction l as [|b r IH]; simpl; [reflexivity|]. destruct (Rle_dec _ _); [reflexivity|].
  rewrite perm_swap. now apply perm_skip.
Qed.

Lemma insert_descending a l : descending l -> descending (insert a l).
Proof.
  unfold descending. induction 1 as [|b r Hr IH Hb]; simpl.
  - constructor; [constructor | constructor].
  - destruct (Rle_dec _ _) as [L|L].
    + constructor; [constructor; assumption|]. constructor; [assumption|]. eapply Forall_impl; [|exact Hb]. intros c Hc. simpl in Hc. lra.
    + constructor; [assumption|]. eapply Permutation_Forall; [apply insert_permutation|]. constructor; [lra | assumption].
Qed.

Lemma sorted_exists l : exists m, Permutation l m /\ descending m.
Proof.
  induction l as [|a l [m [Hp Hd]]].
  - exists []. split; constructor.
  - exists (insert a m). split; [|now apply insert_descending]. rewrite <- insert_permutation. now apply perm_skip.
Qed.

Lemma curve_nonneg A x : proper A -> 0 <= curve A x.
Proof.
  intro HA. unfold curve, act. rewrite hinge_0.
  assert (0 <= sum (fun a => fst a * hinge (x / snd a)) (atoms A)).
  { apply sum_nonneg. intros a Ha. destruct (proper_atom A a HA Ha). apply Rmult_le_pos; [assumption | apply Rmax_l]. }
  destruct HA. lra.
Qed.

Lemma mean_second_bounds s : forall f, decision s f -> 0 <= mean_second s f <= 1.
Proof.
  induction s as [|Y P Q next IH]; intros f; simpl; [auto|].
  intros [Hd [_ [_ HQ]]]. apply mean_bounds. split; [exact HQ|]. intro o. apply IH. apply Hd.
Qed.

Lemma mean_first_bounds s : forall f, decision s f -> 0 <= mean_first s f <= 1.
Proof.
  induction s as [|Y P Q next IH]; intros f; simpl; [auto|].
  intros [Hd [HP _]]. apply mean_bounds. split; [exact HP|]. intro o. apply IH. apply Hd.
Qed.

(* Where every function from 0 to 1 is measurable, as it is over countable outcomes, every such function of the
   transcript is a decision: no event is left out. *)
Definition complete {O} (P : law O) : Prop := forall h, (forall o, 0 <= h o <= 1) -> measurable P h.
Fixpoint complete_session (s : session) : Prop :=
  match s with stop => True | run Y P Q next => complete P /\ complete Q /\ forall o, complete_session (next o) end.

Theorem every_decision s : complete_session s -> forall f, (forall t, 0 <= f t <= 1) -> decision s f.
Proof.
  induction s as [|Y P Q next IH]; simpl; intros Hs f Hf; [apply Hf|]. destruct Hs as [HP [HQ Hn]].
  assert (forall o, decision (next o) (fun t => f (existT _ o t))) as Hd by (intro o; apply IH; auto).
  split; [exact Hd|]. repeat split; [apply HP | apply HP | apply HQ]; intro o;
    first [now apply mean_first_bounds | now apply mean_second_bounds].
Qed.

Lemma chain_hinge As Cs : Forall proper As -> Forall2 bounded As Cs ->
  forall x, 0 <= x -> hinge x <= chain As x.
Proof.
  intros HA HB. revert HA. induction HB as [|A C As Cs [H _] _ IH]; intros HA x Hx; simpl; [lra|].
  inversion HA; subst. apply Rle_trans with (curve A x); [auto|]. apply act_le; auto.
Qed.

(* The composition theorem. Every step of the session is of a class that its profile bounds; the order of the steps, and
   which neighbour is which, may depend on all that was seen. *)
Theorem composition As Cs : Forall proper As -> Forall2 bounded As Cs ->
  forall s, spends Cs s -> session_below (chain As) s.
Proof.
  intros HA HB s. revert As Cs HA HB. induction s as [|Y P Q next IH]; intros As Cs HA HB Hs f Hf x Hx.
  - simpl in *. apply Rle_trans with (hinge x); [|now apply (chain_hinge As Cs)].
    unfold hinge. destruct (Rle_dec 0 (1 - x)); [rewrite Rmax_right by lra | rewrite Rmax_left by lra]; nra.
  - destruct Hs as [C [rest [Hp [HC Hn]]]].
    destruct (Forall2_permutation bounded _ _ Hp _ HB) as [As' [Hp' HB']].
    inversion HB' as [|A ? Bs ? HAC HBs]; subst.
    rewrite (chain_permutation _ _ Hp').
    assert (Forall proper (A :: Bs)) as HAs by (eapply Permutation_Forall; eassumption).
    inversion HAs as [|? ? PA PB]; subst.
    destruct Hf as [Hd [M1 [M2 M3]]].
    set (g := fun o => mean_first (next o) (fun t => f (existT _ o t))) in *.
    set (h := fun o => mean_second (next o) (fun t => f (existT _ o t))) in *.
    assert (forall o, 0 <= h o <= 1) as Hh by (intro o; apply mean_second_bounds, Hd).
    pose proof (product_proper Bs PB) as PP.
    destruct (sorted_exists (atoms (product Bs))) as [l [Hl Hsort]].
    assert (masses l) as Ml by (eapply Permutation_Forall; [exact Hl | apply PP]).
    assert (forall o, g o <= infinite (product Bs) + filled l (h o)) as Hg.
    { intro o. apply below_filled; [assumption|assumption|apply Hh|]. intros y Hy.
      assert (chain Bs y = infinite (product Bs) + sum (fun a => fst a * hinge (y / snd a)) l) as <-.
      { rewrite chain_product by assumption. unfold curve, act. rewrite hinge_0. rewrite (sum_permutation _ _ _ Hl). lra. }
      apply (IH o Bs rest PB HBs (Hn o) (fun t => f (existT _ o t)) (Hd o) y Hy). }
    change (mean P g - x * mean Q h <= act A (chain Bs) x).
    assert (act A (chain Bs) x = infinite (product Bs) * curve A 0 + sum (fun a => fst a * curve A (x / snd a)) l) as ->.
    { rewrite (act_ext A (chain Bs) (curve (product Bs))) by (intro; now apply chain_product).
      unfold curve at 1. rewrite act_swap. fold (curve A). rewrite act_unfold. now rewrite (sum_permutation _ _ _ Hl). }
    destruct HAC as [Hhinge HAC]. specialize (HAC Y P Q HC).
    pose proof (filled_worth P Q (curve A) l Ml HAC (fun y _ => curve_nonneg A y PA) h x Hx M2 M3) as W.
    assert (mean P g <= infinite (product Bs) + mean P (fun o => filled l (h o))) as G1.
    { rewrite <- (mean_const P (infinite (product Bs))), <- mean_plus.
      - apply mean_le; try assumption. apply (measurable_plus P (fun _ => infinite (product Bs))); [apply measurable_const|].
        now apply measurable_filled.
      - apply measurable_const.
      - now apply measurable_filled. }
    replace (fun o => Rmax 0 (h o)) with h in W by (extensionality o; rewrite Rmax_right; [reflexivity | apply Hh]).
    specialize (Hhinge 0 (Rle_refl 0)). rewrite hinge_0 in Hhinge. destruct PP as [PP _]. nra.
Qed.

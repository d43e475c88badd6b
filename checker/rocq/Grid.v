(* Composition on a grid: masses are whole multiples of a unit, on nodes e^(i step).

   To compose is to convolve; rounding up, and moving mass to a larger node or to infinity, raises the curve. *)
From Coq Require Import Reals Lra Lia ZArith List.
Import ListNotations.
From DP Require Import Law Profile Compose.
Open Scope R_scope.

(* masses k = 0, 1, ... are on the nodes first + k; what is not on them is at infinity *)
Record grid := Grid { first : Z; units : list Z; far : Z }.

Section Step.
Variable step : R.
Hypothesis step_pos : 0 < step.

Definition node (i : Z) : R := exp (IZR i * step).

Lemma node_pos i : 0 < node i.
Proof. apply exp_pos. Qed.
Lemma node_plus i j : node (i + j) = node i * node j.
Proof. unfold node. rewrite plus_IZR, Rmult_plus_distr_r. apply exp_plus. Qed.
Lemma node_lt i j : (i < j)%Z -> node i < node j.
Proof. intro H. apply exp_increasing. apply Rmult_lt_compat_r; [exact step_pos | now apply IZR_lt]. Qed.

Fixpoint atoms_of (w : R) (i : Z) (l : list Z) : list (R * R) :=
  match l with [] => [] | m :: rest => (w * IZR m, node i) :: atoms_of w (i + 1) rest end.

(* The profile of a grid whose unit is w. *)
Definition profile_of (w : R) (g : grid) : profile :=
  {| infinite := w * IZR (far g); atoms := atoms_of w (first g) (units g) |}.

(* sum of m F(x / node) *)
Fixpoint spread (l : list Z) (i : Z) (F : R -> R) (x : R) : R :=
  match l with [] => 0 | m :: rest => IZR m * F (x / node i) + spread rest (i + 1) F x end.

Lemma act_profile w g F x : act (profile_of w g) F x = w * (IZR (far g) * F 0 + spread (units g) (first g) F x).
Proof.
  unfold act; simpl. rewrite Rmult_plus_distr_l. f_equal; [lra|]. generalize (first g).
  induction (units g) as [|m l IH]; intro i; simpl; [lra|]. rewrite IH. lra.
Qed.

Definition non_negative (g : grid) : Prop := (0 <= far g)%Z /\ Forall (fun m => (0 <= m)%Z) (units g).

Lemma profile_proper w g : 0 <= w -> non_negative g -> proper (profile_of w g).
Proof.
  intros Hw [H0 H1]. split; simpl.
  - apply Rmult_le_pos; [assumption | now apply IZR_le].
  - revert H1. generalize (first g). induction (units g) as [|m l IH]; intros i H; simpl; constructor.
    + inversion H; subst. simpl. split; [apply Rmult_le_pos; [assumption | now apply IZR_le] | apply node_pos].
    + apply IH. now inversion H.
Qed.

(* Convolution of lists. *)
Fixpoint add (a b : list Z) : list Z :=
  match a, b with [], _ => b | _, [] => a | m :: s, n :: t => (m + n)%Z :: add s t end.
Fixpoint convolution (a b : list Z) : list Z :=
  match a with [] => [] | m :: t => add (map (Z.mul m) b) (0%Z :: convolution t b) end.
Definition total (l : list Z) : Z := fold_right Z.add 0%Z l.

Lemma spread_add a F x : forall b i, spread (add a b) i F x = spread a i F x + spread b i F x.
Proof. induction a as [|m s IH]; intros [|n t] i; simpl; try lra. rewrite IH, plus_IZR. lra. Qed.
Lemma spread_scale c a F x : forall i, spread (map (Z.mul c) a) i F x = IZR c * spread a i F x.
Proof. induction a as [|m s IH]; intro i; simpl; [lra|]. rewrite IH, mult_IZR. lra. Qed.
Lemma spread_shift b F x : forall i j, spread b (i + j) F x = spread b j F (x / node i).
Proof.
  induction b as [|m s IH]; intros i j; simpl; [reflexivity|].
  replace (i + j + 1)%Z with (i + (j + 1))%Z by lia. rewrite IH, node_plus.
  replace (x / (node i * node j)) with (x / node i / node j); [reflexivity|].
  pose proof (node_pos i). pose proof (node_pos j). field. lra.
Qed.
Lemma spread_zero l F i : spread l i F 0 = IZR (total l) * F 0.
Proof.
  revert i. induction l as [|m s IH]; intro i; simpl; [lra|]. rewrite IH, plus_IZR. unfold Rdiv. rewrite Rmult_0_l. lra.
Qed.

Lemma spread_convolution a b F x : forall i j,
  spread (convolution a b) (i + j) F x = spread a i (spread b j F) x.
Proof.
  induction a as [|m t IH]; intros i j; simpl; [reflexivity|].
  rewrite spread_add, spread_scale, spread_shift. simpl.
  replace (i + j + 1)%Z with (i + 1 + j)%Z by lia. rewrite IH. lra.
Qed.

Lemma spread_plus l F G x : forall i, spread l i (fun y => F y + G y) x = spread l i F x + spread l i G x.
Proof. induction l as [|m s IH]; intro i; simpl; [lra|]. rewrite IH. lra. Qed.
Lemma spread_ext l F G x : (forall y, F y = G y) -> forall i, spread l i F x = spread l i G x.
Proof. intro H. induction l as [|m s IH]; intro i; simpl; [reflexivity|]. now rewrite IH, H. Qed.
Lemma spread_const l c x : forall i, spread l i (fun _ => c) x = IZR (total l) * c.
Proof. induction l as [|m s IH]; intro i; simpl; [lra|]. rewrite IH, plus_IZR. lra. Qed.
Lemma spread_mult l c F x : forall i, spread l i (fun y => c * F y) x = c * spread l i F x.
Proof. induction l as [|m s IH]; intro i; simpl; [lra|]. rewrite IH. lra. Qed.

(* The product of two grids, in units w * w. *)
Definition exact_product (a b : grid) : grid :=
  {| first := (first a + first b)%Z; units := convolution (units a) (units b);
     far := (far a * (total (units b) + far b) + total (units a) * far b)%Z |}.

Theorem act_exact_product w a b F x :
  act (profile_of (w * w) (exact_product a b)) F x = act (profile_of w a) (act (profile_of w b) F) x.
Proof.
  rewrite !act_profile. cbn [exact_product first units far]. rewrite spread_convolution.
  rewrite (spread_ext (units a) (act (profile_of w b) F) (fun y => w * (IZR (far b) * F 0) + w * spread (units b) (first b) F y))
    by (intro y; rewrite act_profile; lra).
  rewrite spread_plus, spread_const, spread_mult, spread_zero.
  rewrite !plus_IZR, !mult_IZR, !plus_IZR. lra.
Qed.

(* One grid is above another. *)
Definition higher (v : R) (a : grid) (w : R) (b : grid) : Prop :=
  forall x, 0 <= x -> curve (profile_of w b) x <= curve (profile_of v a) x.

Lemma hinge_decreasing x y : x <= y -> hinge y <= hinge x.
Proof. intro H. unfold hinge. apply Rle_max_compat_l. lra. Qed.
Lemma hinge_nonneg x : 0 <= hinge x.
Proof. apply Rmax_l. Qed.
Lemma hinge_le_1 x : 0 <= x -> hinge x <= 1.
Proof. intro H. unfold hinge. apply Rmax_lub; lra. Qed.
Lemma hinge_node x i j : 0 <= x -> (i <= j)%Z -> hinge (x / node i) <= hinge (x / node j).
Proof.
  intros Hx Hij. apply hinge_decreasing. apply Rmult_le_compat_l; [assumption|].
  apply Rinv_le_contravar; [apply node_pos|].
  destruct (Z.eq_dec i j) as [->|]; [apply Rle_refl | left; apply node_lt; lia].
Qed.

(* Rounding up to multiples of 2^bits. *)
Definition up (bits m : Z) : Z := (- (Z.shiftr (- m) bits))%Z.

Lemma up_ge bits m : (0 <= bits)%Z -> (m <= up bits m * 2 ^ bits)%Z.
Proof.
  intro H. unfold up. rewrite Z.shiftr_div_pow2 by assumption.
  pose proof (Z.mul_div_le (- m) (2 ^ bits) (Z.pow_pos_nonneg 2 bits ltac:(lia) H)). lia.
Qed.
Lemma up_nonneg bits m : (0 <= m)%Z -> (0 <= up bits m)%Z.
Proof. intro H. unfold up. destruct (Z.eq_dec m 0) as [->|]; [now rewrite Z.shiftr_0_l|]. pose proof (proj2 (Z.shiftr_neg (- m) bits)). lia. Qed.

Definition round_up (bits : Z) (g : grid) : grid :=
  {| first := first g; units := map (up bits) (units g); far := up bits (far g) |}.

Lemma round_up_higher bits w g : (0 <= bits)%Z -> 0 <= w ->
  higher (IZR (2 ^ bits) * w) (round_up bits g) w g.
Proof.
  intros Hb Hw x Hx. unfold curve. rewrite !act_profile. cbn [round_up first units far].
  rewrite (Rmult_comm _ w), Rmult_assoc. apply Rmult_le_compat_l; [assumption|]. rewrite hinge_0, Rmult_plus_distr_l.
  assert (forall m, IZR m <= IZR (2 ^ bits) * IZR (up bits m)) as Hup.
  { intro m. rewrite <- mult_IZR. apply IZR_le. rewrite Z.mul_comm. now apply up_ge. }
  apply Rplus_le_compat; [specialize (Hup (far g)); lra|]. generalize (first g).
  induction (units g) as [|m l IH]; intro i; simpl; [lra|]. specialize (IH (i + 1)%Z).
  pose proof (Rmult_le_compat_r (hinge (x / node i)) _ _ (hinge_nonneg _) (Hup m)). lra.
Qed.

Lemma round_up_non_negative bits g : non_negative g -> non_negative (round_up bits g).
Proof.
  intros [H0 H1]. split; simpl; [now apply up_nonneg|]. apply Forall_map. eapply Forall_impl; [|exact H1].
  intros m Hm. now apply up_nonneg.
Qed.

(* Below the window: the masses move up to its first node, one node at a time. *)
Fixpoint lift (n : nat) (i : Z) (l : list Z) : Z * list Z :=
  match n, l with S k, m :: s :: t => lift k (i + 1) ((m + s)%Z :: t) | _, _ => (i, l) end.

Lemma lift_spread x : 0 <= x -> forall n i l, Forall (fun m => (0 <= m)%Z) l ->
  spread l i hinge x <= spread (snd (lift n i l)) (fst (lift n i l)) hinge x.
Proof.
  intro Hx. induction n as [|n IH]; intros i [|m [|s t]] H; simpl; try lra.
  inversion H as [|? ? Hm H']; subst. inversion H' as [|? ? Hs Ht]; subst.
  eapply Rle_trans; [|apply IH; constructor; [lia | assumption]]. simpl. rewrite plus_IZR.
  pose proof (hinge_node x i (i + 1) Hx ltac:(lia)). apply IZR_le in Hm. nra.
Qed.

Lemma lift_non_negative n : forall i l, Forall (fun m => (0 <= m)%Z) l ->
  Forall (fun m => (0 <= m)%Z) (snd (lift n i l)).
Proof.
  induction n as [|n IH]; intros i [|m [|s t]] H; simpl; auto.
  inversion H as [|? ? Hm H']; subst. inversion H'; subst. apply IH. constructor; [lia | assumption].
Qed.

(* Above the window: the masses move to infinity. *)
Fixpoint cut (n : nat) (l : list Z) : list Z * Z :=
  match n, l with
  | O, _ => ([], total l)
  | S k, [] => ([], 0%Z)
  | S k, m :: t => let (kept, out) := cut k t in (m :: kept, out)
  end.

Lemma total_nonneg l : Forall (fun m => (0 <= m)%Z) l -> (0 <= total l)%Z.
Proof. induction 1; simpl; lia. Qed.

Lemma spread_le_total l x : Forall (fun m => (0 <= m)%Z) l -> 0 <= x -> forall i, spread l i hinge x <= IZR (total l).
Proof.
  intros H Hx. induction H as [|m l Hm Hl IH]; intro i; simpl; [lra|]. rewrite plus_IZR. specialize (IH (i + 1)%Z).
  pose proof (hinge_le_1 (x / node i) (ratio_nonneg x _ Hx (node_pos i))). apply IZR_le in Hm. nra.
Qed.

Lemma cut_spread x : 0 <= x -> forall n l i, Forall (fun m => (0 <= m)%Z) l ->
  spread l i hinge x <= IZR (snd (cut n l)) + spread (fst (cut n l)) i hinge x.
Proof.
  intro Hx. induction n as [|n IH]; intros [|m t] i H; simpl; try lra.
  - inversion H; subst. pose proof (spread_le_total (m :: t) x H Hx i). simpl in *. lra.
  - inversion H; subst. specialize (IH t (i + 1)%Z H3). destruct (cut n t) as [kept out]. simpl in *. lra.
Qed.

Lemma cut_non_negative n : forall l, Forall (fun m => (0 <= m)%Z) l ->
  Forall (fun m => (0 <= m)%Z) (fst (cut n l)) /\ (0 <= snd (cut n l))%Z.
Proof.
  induction n as [|n IH]; intros [|m t] H; simpl; try (split; [constructor | lia]).
  - split; [constructor|]. exact (total_nonneg _ H).
  - inversion H; subst. destruct (IH t H3). destruct (cut n t) as [kept out]. simpl in *. auto.
Qed.

(* What is kept are the nodes low to high (the last node below the window is the first that is kept, if no other is). *)
Definition into_window (low high : Z) (g : grid) : grid :=
  let (i, l) := lift (Z.to_nat (low - first g)) (first g) (units g) in
  let (kept, out) := cut (Z.to_nat (high - i + 1)) l in
  {| first := i; units := kept; far := (far g + out)%Z |}.

Lemma into_window_higher low high w g : 0 <= w -> non_negative g -> higher w (into_window low high g) w g.
Proof.
  intros Hw [H0 H1] x Hx. unfold into_window.
  pose proof (lift_spread x Hx (Z.to_nat (low - first g)) (first g) (units g) H1) as L.
  pose proof (lift_non_negative (Z.to_nat (low - first g)) (first g) (units g) H1) as N.
  destruct (lift _ _ _) as [i l]. simpl in L, N.
  pose proof (cut_spread x Hx (Z.to_nat (high - i + 1)) l i N) as C.
  destruct (cut _ l) as [kept out]. simpl in C. unfold curve. rewrite !act_profile. simpl.
  apply Rmult_le_compat_l; [assumption|]. rewrite hinge_0, plus_IZR. lra.
Qed.

Lemma into_window_non_negative low high g : non_negative g -> non_negative (into_window low high g).
Proof.
  intros [H0 H1]. unfold into_window.
  pose proof (lift_non_negative (Z.to_nat (low - first g)) (first g) (units g) H1) as N.
  destruct (lift _ _ _) as [i l]. simpl in N. destruct (cut_non_negative (Z.to_nat (high - i + 1)) l N).
  destruct (cut _ l). simpl in *. split; simpl; [lia | assumption].
Qed.

Lemma convolution_non_negative a b : Forall (fun m => (0 <= m)%Z) a -> Forall (fun m => (0 <= m)%Z) b ->
  Forall (fun m => (0 <= m)%Z) (convolution a b).
Proof.
  assert (forall a b, Forall (fun m => (0 <= m)%Z) a -> Forall (fun m => (0 <= m)%Z) b -> Forall (fun m => (0 <= m)%Z) (add a b)) as Hadd.
  { clear. intros a. induction a as [|m s IH]; intros b Ha Hb; [exact Hb|]. destruct b as [|n t]; [exact Ha|].
    inversion Ha; inversion Hb; subst. simpl. constructor; [lia | now apply IH]. }
  intros Ha Hb. induction Ha as [|m t Hm Ht IH]; simpl; [constructor|]. apply Hadd.
  - apply Forall_map. eapply Forall_impl; [|exact Hb]. intros n Hn. simpl in Hn. nia.
  - constructor; [lia | exact IH].
Qed.

Lemma exact_product_non_negative a b : non_negative a -> non_negative b -> non_negative (exact_product a b).
Proof.
  intros [A0 A1] [B0 B1]. split; simpl; [|now apply convolution_non_negative].
  pose proof (total_nonneg _ A1). pose proof (total_nonneg _ B1). nia.
Qed.

(* One step of the rule: product, window, rounding. *)
Definition compose (bits low high : Z) (a b : grid) : grid :=
  round_up bits (into_window low high (exact_product a b)).

Definition unit_of (bits : Z) : R := / IZR (2 ^ bits).
Definition grid_profile (bits : Z) (g : grid) : profile := profile_of (unit_of bits) g.

Lemma power_pos bits : (0 <= bits)%Z -> 0 < IZR (2 ^ bits).
Proof. intro H. apply IZR_lt. now apply Z.pow_pos_nonneg. Qed.
Lemma unit_pos bits : (0 <= bits)%Z -> 0 < unit_of bits.
Proof. intro H. apply Rinv_0_lt_compat. now apply power_pos. Qed.

Theorem compose_non_negative bits low high a b : non_negative a -> non_negative b -> non_negative (compose bits low high a b).
Proof. intros. apply round_up_non_negative, into_window_non_negative. now apply exact_product_non_negative. Qed.

(* The grid rule: what covers two lists of profiles covers both together, after product, window and rounding. *)
Theorem compose_covers bits low high a b As Bs : (0 <= bits)%Z -> non_negative a -> non_negative b ->
  Forall proper As -> Forall proper Bs ->
  covers (grid_profile bits a) As -> covers (grid_profile bits b) Bs ->
  covers (grid_profile bits (compose bits low high a b)) (As ++ Bs).
Proof.
  intros Hb Na Nb PA PB HA HB x Hx. pose proof (unit_pos bits Hb) as Hu.
  assert (0 <= unit_of bits) as Hu' by lra. assert (0 <= unit_of bits * unit_of bits) as Huu by nra.
  pose proof (exact_product_non_negative a b Na Nb) as Np.
  eapply Rle_trans; [apply (covers_times (grid_profile bits a) (grid_profile bits b)); auto; now apply profile_proper|].
  unfold curve at 1. rewrite act_times by now apply profile_proper.
  unfold grid_profile. rewrite <- act_exact_product.
  eapply Rle_trans; [apply (into_window_higher low high _ _ Huu Np x Hx)|].
  eapply Rle_trans; [apply (round_up_higher bits _ _ Hb Huu x Hx)|].
  replace (IZR (2 ^ bits) * (unit_of bits * unit_of bits)) with (unit_of bits); [apply Rle_refl|].
  unfold unit_of. pose proof (power_pos bits Hb). field. lra.
Qed.

End Step.

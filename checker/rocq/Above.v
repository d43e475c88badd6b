(* Masses on a grid whose curve is above every pair of a class.

   For one test, P(f) - x Q(f) is a line in x, which falls. A line that is below the values v at 0 and at all nodes is
   below the chords through these values, and the chords are the curve of masses on the nodes. *)
From Coq Require Import Reals Lra Lia ZArith List Bool.
Import ListNotations.
From DP Require Import Law Profile Compose Grid Finite Fixed.
Open Scope R_scope.

(* Chords from (x0, v0) on, and constant after the last point. *)
Definition points := list (R * R).
Definition slope (x0 v0 : R) (l : points) : R :=
  match l with [] => 0 | (x1, v1) :: _ => (v0 - v1) / (x1 - x0) end.
Fixpoint chords (x0 v0 : R) (l : points) (x : R) : R :=
  match l with
  | [] => v0
  | (x1, v1) :: rest => (slope x0 v0 l - slope x1 v1 rest) * Rmax 0 (x1 - x) + chords x1 v1 rest x
  end.
Fixpoint increasing (x0 : R) (l : points) : Prop :=
  match l with [] => True | (x1, _) :: rest => x0 < x1 /\ increasing x1 rest end.

Lemma chords_left l : forall x0 v0 x, increasing x0 l -> x <= x0 ->
  chords x0 v0 l x = v0 + slope x0 v0 l * (x0 - x).
Proof.
  induction l as [|[x1 v1] rest IH]; intros x0 v0 x; simpl; [lra|]. intros [H1 H2] Hx.
  rewrite IH by (auto; lra). rewrite Rmax_right by lra. simpl.
  replace (v0 - v1) with ((v0 - v1) / (x1 - x0) * (x1 - x0)) at 3 by (field; lra).
  assert (v0 = v1 + (v0 - v1) / (x1 - x0) * (x1 - x0)) as E by (field; lra).
  set (s := (v0 - v1) / (x1 - x0)) in *. nra.
Qed.

Lemma line_below_chords a b l : 0 <= b -> forall x0 v0 x, increasing x0 l -> x0 <= x ->
  a - x0 * b <= v0 -> Forall (fun c => a - fst c * b <= snd c) l -> a - x * b <= chords x0 v0 l x.
Proof.
  intro Hb. induction l as [|[x1 v1] rest IH]; intros x0 v0 x; simpl; intros Hi Hx H0 H.
  - nra.
  - destruct Hi as [H1 Hi]. inversion H as [|? ? Hv Hr]; subst. simpl in Hv.
    destruct (Rle_dec x x1) as [L|L].
    + rewrite chords_left by assumption. rewrite Rmax_right by lra.
      assert (v0 = v1 + (v0 - v1) / (x1 - x0) * (x1 - x0)) as E by (field; lra).
      set (s := (v0 - v1) / (x1 - x0)) in *.
      enough (a - x * b <= v1 + s * (x1 - x)) by lra.
      apply Rmult_le_reg_r with (x1 - x0); [lra|].
      replace ((v1 + s * (x1 - x)) * (x1 - x0)) with (v1 * (x - x0) + (v1 + s * (x1 - x0)) * (x1 - x)) by ring.
      rewrite <- E. nra.
    + rewrite Rmax_left by lra. rewrite Rmult_0_r, Rplus_0_l. apply IH; auto; lra.
Qed.

(* The same chords as masses: the checker's numbers. *)
Section Hull.
Variables (p : positive) (mass_bits : Z).
Hypothesis bits_fit : (0 <= mass_bits <= Zpos p)%Z.

Definition as_units (b : Z) : Z := up (Zpos p - mass_bits) (Z.max 0 b).
Definition real_of (t : Z) : R := IZR t / IZR (one p).

Lemma as_units_ge b : real_of b <= unit_of mass_bits * IZR (as_units b).
Proof.
  unfold real_of, unit_of, as_units. pose proof (one_posR p). pose proof (power_pos mass_bits ltac:(lia)).
  pose proof (up_ge (Zpos p - mass_bits) (Z.max 0 b) ltac:(lia)) as U. apply IZR_le in U. rewrite mult_IZR in U.
  assert (IZR (one p) = IZR (2 ^ mass_bits) * IZR (2 ^ (Zpos p - mass_bits))) as E.
  { rewrite <- mult_IZR, <- Z.pow_add_r by lia. unfold one. f_equal. f_equal. lia. }
  assert (0 < IZR (2 ^ (Zpos p - mass_bits))) by (apply power_pos; lia).
  assert (IZR b <= IZR (Z.max 0 b)) by (apply IZR_le; lia).
  apply Rmult_le_reg_r with (IZR (one p)); [assumption|].
  replace (IZR b / IZR (one p) * IZR (one p)) with (IZR b) by (field; lra). rewrite E.
  set (u := IZR (up _ _)) in *. set (M := IZR (2 ^ mass_bits)) in *. set (K := IZR (2 ^ (Zpos p - mass_bits))) in *.
  replace (/ M * u * (M * K)) with (u * K) by (field; lra). lra.
Qed.
Lemma as_units_nonneg b : (0 <= as_units b)%Z.
Proof. apply up_nonneg. lia. Qed.

Definition exactly (t : Z) : ends := Some (t, t).
Lemma exactly_holds t : holds p (exactly t) (real_of t).
Proof.
  unfold real_of. simpl. pose proof (one_posR p).
  replace (IZR t / IZR (one p) * IZR (one p)) with (IZR t) by (field; lra). lra.
Qed.

(* The fall of the first chord, the masses, and the mass at infinity. *)
Fixpoint hull (x0 : ends) (v0 : Z) (l : list (ends * Z)) : option (ends * list Z * Z) :=
  match l with
  | [] => Some (whole p 0, [], as_units v0)
  | (x1, v1) :: rest =>
      match hull x1 v1 rest with
      | Some (next, masses, far) =>
          let fall := over p (exactly (v0 - v1)) (minus x1 x0) in
          match times p x1 (minus fall next) with
          | Some (_, b) => Some (fall, as_units b :: masses, far)
          | None => None
          end
      | None => None
      end
  end.

Variable step : R.
Hypothesis step_pos : 0 < step.

(* The checker's list is at the nodes i, i + 1, ... *)
Fixpoint at_nodes (i : Z) (l : list (ends * Z)) : Prop :=
  match l with [] => True | (x, _) :: rest => holds p x (node step i) /\ at_nodes (i + 1) rest end.
Fixpoint node_points (i : Z) (l : list (ends * Z)) : points :=
  match l with [] => [] | (_, v) :: rest => (node step i, real_of v) :: node_points (i + 1) rest end.

Lemma node_points_increasing l : forall i x0, x0 < node step i -> increasing x0 (node_points i l).
Proof.
  induction l as [|[x v] rest IH]; intros i x0 H; simpl; [exact Logic.I|]. split; [assumption|].
  apply IH. apply node_lt; [assumption | lia].
Qed.

Lemma hull_above l : forall i x0 r0 v0 fall ms far, hull x0 v0 l = Some (fall, ms, far) ->
  holds p x0 r0 -> r0 < node step i -> at_nodes i l ->
  holds p fall (slope r0 (real_of v0) (node_points i l))
  /\ (forall x, 0 <= x -> chords r0 (real_of v0) (node_points i l) x
        <= unit_of mass_bits * (IZR far + spread step ms i hinge x))
  /\ Forall (fun m => (0 <= m)%Z) ms /\ (0 <= far)%Z.
Proof.
  induction l as [|[x1 v1] rest IH]; intros i x0 r0 v0 fall ms far; cbn [hull at_nodes node_points chords slope].
  - intros H _ _ _. inversion H; subst. split; [apply (whole_holds p 0)|]. split; [|split; [constructor | apply as_units_nonneg]].
    intros x _. simpl. rewrite Rplus_0_r. apply as_units_ge.
  - destruct (hull x1 v1 rest) as [[[next ms'] far']|] eqn:E; [|discriminate]. cbv zeta.
    destruct (times p x1 (minus (over p (exactly (v0 - v1)) (minus x1 x0)) next)) as [[a b]|] eqn:T; [|discriminate].
    intros H Hx0 Hlt [Hx1 Hn]. inversion H; subst; clear H.
    assert (node step i < node step (i + 1)) as Hlt' by (apply node_lt; [assumption | lia]).
    destruct (IH (i + 1)%Z x1 (node step i) v1 next ms' far E Hx1 Hlt' Hn) as [H1 [H2 [H3 H4]]].
    pose proof (exactly_holds (v0 - v1)) as Hd. unfold real_of in Hd. rewrite minus_IZR in Hd.
    replace ((IZR v0 - IZR v1) / IZR (one p)) with (real_of v0 - real_of v1) in Hd by (unfold real_of; pose proof (one_posR p); field; lra).
    pose proof (over_holds p _ _ _ _ Hd (minus_holds p _ _ _ _ Hx1 Hx0)) as Hf.
    pose proof (times_holds p _ _ _ _ Hx1 (minus_holds p _ _ _ _ Hf H1)) as Hm. rewrite T in Hm. simpl in Hm.
    split; [exact Hf|]. split; [|split; [constructor; [apply as_units_nonneg | assumption] | assumption]].
    intros x Hx. specialize (H2 x Hx). pose proof (node_pos step i) as Np. cbn [spread].
    set (s := (real_of v0 - real_of v1) / (node step i - r0)) in *. set (s' := slope _ _ _) in *.
    assert (Rmax 0 (node step i - x) = node step i * hinge (x / node step i)) as ->.
    { unfold hinge. replace (node step i - x) with (node step i * (1 - x / node step i)) by (field; lra).
      unfold Rmax. destruct (Rle_dec 0 (node step i * (1 - x / node step i))), (Rle_dec 0 (1 - x / node step i)); nra. }
    pose proof (hinge_nonneg (x / node step i)) as Hh.
    assert (node step i * (s - s') <= unit_of mass_bits * IZR (as_units b)) as Hb.
    { eapply Rle_trans; [|apply as_units_ge]. unfold real_of. pose proof (one_posR p).
      apply Rmult_le_reg_r with (IZR (one p)); [assumption|].
      replace (IZR b / IZR (one p) * IZR (one p)) with (IZR b) by (field; lra). lra. }
    apply (Rmult_le_compat_r _ _ _ Hh) in Hb. lra.
Qed.

(* Values at 0 (which is 1) and at all nodes are enough. *)
Theorem hull_bounds C i l fall ms far :
  hull (whole p 0) (one p) l = Some (fall, ms, far) -> at_nodes i l ->
  (exists Y P Q, C Y P Q) ->
  (forall Y P Q, C Y P Q -> forall f, test P f -> test Q f ->
     Forall (fun c => mean P f - fst c * mean Q f <= snd c) (node_points i l)) ->
  bounded (grid_profile step mass_bits (Grid i ms far)) C /\ non_negative (Grid i ms far).
Proof.
  intros H Hn Hex HC. pose proof (node_pos step i) as Np.
  destruct (hull_above l i (whole p 0) 0 (one p) fall ms far H (whole_holds p 0) Np Hn) as [_ [H1 [H2 H3]]].
  assert (real_of (one p) = 1) as E1 by (unfold real_of; pose proof (one_posR p); field; lra).
  rewrite E1 in H1. pose proof (node_points_increasing l i 0 Np) as Hi.
  assert (forall x, 0 <= x -> chords 0 1 (node_points i l) x <= curve (grid_profile step mass_bits (Grid i ms far)) x) as Hc.
  { intros x Hx. unfold curve, grid_profile. rewrite act_profile. rewrite hinge_0, Rmult_1_r. apply (H1 x Hx). }
  split; [|split; assumption].
  assert (forall Y P Q, C Y P Q -> below (curve (grid_profile step mass_bits (Grid i ms far))) P Q) as HB.
  { intros Y P Q HPQ f Pf Qf x Hx. eapply Rle_trans; [|now apply Hc].
    pose proof (mean_bounds P f Pf). pose proof (mean_bounds Q f Qf).
    apply line_below_chords; auto; try lra; now apply (HC Y). }
  split; [|exact HB]. destruct Hex as [Y [P [Q HPQ]]]. apply (below_hinge _ P Q (HB Y P Q HPQ)).
  intros x Hx. apply curve_nonneg. apply profile_proper; [left; apply unit_pos; lia | split; assumption].
Qed.
End Hull.

(* Runs of Gaussian noise whose values move by their sensitivities: one event shows all that mu, the root of the sum of squares, allows. *)
From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals Lra Lia ZArith List FunctionalExtensionality.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Line Moves Normal NormalSum Lower TradeOff.
Open Scope R_scope.

Local Notation noise := (line gauss).

(* (mu, sigma) of each run *)
Definition with_user (a : R * R) : law R := gaussian (snd a) (fst a * snd a).
Definition without_user (a : R * R) : law R := gaussian (snd a) 0.
Fixpoint gauss_session (l : list (R * R)) : session :=
  match l with [] => stop | a :: rest => run R (with_user a) (without_user a) (fun _ => gauss_session rest) end.

Lemma gauss_session_attains l Cs : Forall2 (fun a (C : class) => C R (with_user a) (without_user a)) l Cs -> attains Cs (gauss_session l).
Proof.
  induction 1 as [|a C l Cs H _ IH]; [reflexivity|]. exists R, (with_user a), (without_user a), (gauss_session l). now repeat split.
Qed.

(* The sum of mu z is at least c, where z is an outcome in units of sigma. *)
Fixpoint exceeds (l : list (R * R)) (c : R) : transcript (gauss_session l) -> R :=
  match l with
  | [] => fun _ => half_line c 0
  | a :: rest => fun t => exceeds rest (c - fst a * (projT1 t / snd a)) (projT2 t)
  end.

Lemma half_line_divide m c z : 0 < m -> half_line (c - m * z) 0 = half_line (c / m) z.
Proof.
  intro Hm. assert (c = c / m * m) as E by (field; lra). unfold half_line. destruct (Rle_dec (c - m * z) 0), (Rle_dec (c / m) z); try reflexivity; nra.
Qed.

(* A function of the outcome in units of sigma. *)
Lemma with_user_mean a (f : R -> R) : 0 < snd a -> measurable noise (fun t => f (fst a + t)) ->
  measurable (with_user a) (fun o => f (o / snd a)) /\ mean (with_user a) (fun o => f (o / snd a)) = mean noise (fun t => f (fst a + t)).
Proof.
  intros Hs M. assert ((fun t => f ((fst a * snd a + snd a * t) / snd a)) = fun t => f (fst a + t)) as E by (extensionality t; f_equal; field; lra).
  change (measurable noise (fun t => f ((fst a * snd a + snd a * t) / snd a)) /\ mean noise (fun t => f ((fst a * snd a + snd a * t) / snd a)) = mean noise (fun t => f (fst a + t))).
  rewrite E. now split.
Qed.
Lemma without_user_mean a (f : R -> R) : 0 < snd a -> measurable noise f ->
  measurable (without_user a) (fun o => f (o / snd a)) /\ mean (without_user a) (fun o => f (o / snd a)) = mean noise f.
Proof.
  intros Hs M. assert ((fun t => f ((0 + snd a * t) / snd a)) = f) as E by (extensionality t; f_equal; field; lra).
  change (measurable noise (fun t => f ((0 + snd a * t) / snd a)) /\ mean noise (fun t => f ((0 + snd a * t) / snd a)) = mean noise f).
  rewrite E. now split.
Qed.

Definition positive_runs (l : list (R * R)) : Prop := Forall (fun a => 0 < fst a /\ 0 < snd a) l.
Definition root_of (l : list (R * R)) : R := sqrt (squares l).

Lemma root_of_pos l : positive_runs l -> l <> [] -> 0 < root_of l.
Proof.
  intros H Hl. apply sqrt_lt_R0. destruct H as [|a l [H1 _] H]; [congruence|]. unfold squares. simpl.
  assert (0 <= sum (fun a => fst a * fst a) l) by (apply sum_nonneg; intros; apply Rle_0_sqr). nra.
Qed.

Lemma stretched m s : 0 < s -> s * stretch (- (m / s)) = sqrt (m * m + s * s).
Proof.
  intro Hs. pose proof (stretch_pos (- (m / s))). rewrite <- (sqrt_square (s * stretch (- (m / s)))) by nra. f_equal.
  replace (s * stretch (- (m / s)) * (s * stretch (- (m / s)))) with (s * s * (stretch (- (m / s)) * stretch (- (m / s)))) by ring.
  rewrite stretch_square. field. lra.
Qed.

Theorem exceeds_probability l : positive_runs l -> l <> [] -> forall c, decision (gauss_session l) (exceeds l c)
  /\ mean_second (gauss_session l) (exceeds l c) = tail gauss (c / root_of l)
  /\ mean_first (gauss_session l) (exceeds l c) = tail gauss (c / root_of l - root_of l).
Proof.
  induction 1 as [|a l [Hm Hs] Hl IH]; [congruence|]. intros _ c.
  cbn [gauss_session exceeds decision mean_first mean_second projT1 projT2]. set (m := fst a) in *. destruct (list_eq_nil l) as [->|N].
  - assert (root_of [a] = m) as -> by (unfold root_of, squares; simpl; rewrite Rplus_0_r; apply sqrt_square; unfold m in *; lra).
    cbn [gauss_session exceeds decision mean_first mean_second].
    assert ((fun o => half_line (c - m * (o / snd a)) 0) = fun o => half_line (c / m) (o / snd a)) as -> by (extensionality o; now apply half_line_divide).
    destruct (with_user_mean a (half_line (c / m)) Hs) as [M1 E1].
    { fold m. replace (fun t => half_line (c / m) (m + t)) with (half_line (c / m - m)) by (rewrite <- half_line_move; extensionality t; f_equal; ring). apply half_line_test. }
    destruct (without_user_mean a (half_line (c / m)) Hs (proj1 (half_line_test gauss (c / m)))) as [M2 E2].
    split; [|split; [now rewrite E2, tail_mean|]].
    + split; [intro o; apply half_line_bounds | exact (conj M1 (conj M1 M2))].
    + rewrite E1. fold m. replace (fun t => half_line (c / m) (m + t)) with (half_line (c / m - m)) by (rewrite <- half_line_move; extensionality t; f_equal; ring).
      apply tail_mean.
  - specialize (IH N). pose proof (root_of_pos l Hl N) as Hr. set (s := root_of l) in *.
    assert (root_of (a :: l) = sqrt (m * m + s * s)) as Er.
    { unfold root_of, squares, s, root_of. simpl. rewrite sqrt_sqrt; [reflexivity|]. apply sum_nonneg. intros. apply Rle_0_sqr. }
    rewrite Er, <- (stretched m s Hr). set (b := - (m / s)). pose proof (stretch_pos b) as Hb. set (k := stretch b) in *.
    set (next := fun o => exceeds l (c - m * (o / snd a))).
    change (((forall o, decision (gauss_session l) (next o)) /\ measurable (with_user a) (fun o => mean_first (gauss_session l) (next o))
      /\ measurable (with_user a) (fun o => mean_second (gauss_session l) (next o)) /\ measurable (without_user a) (fun o => mean_second (gauss_session l) (next o)))
      /\ mean (without_user a) (fun o => mean_second (gauss_session l) (next o)) = tail gauss (c / (s * k))
      /\ mean (with_user a) (fun o => mean_first (gauss_session l) (next o)) = tail gauss (c / (s * k) - s * k)).
    assert ((fun o => mean_second (gauss_session l) (next o)) = fun o => (fun z => tail gauss (c / s + b * z)) (o / snd a)) as ->.
    { extensionality o. unfold next. rewrite (proj1 (proj2 (IH _))). f_equal. unfold b. field. lra. }
    assert ((fun o => mean_first (gauss_session l) (next o)) = fun o => (fun z => tail gauss (c / s - s + b * z)) (o / snd a)) as ->.
    { extensionality o. unfold next. rewrite (proj2 (proj2 (IH _))). f_equal. unfold b. field. lra. }
    assert (forall u, (fun t => tail gauss (u + b * (m + t))) = fun t => tail gauss ((u + b * m) + b * t)) as E by (intro u; extensionality t; f_equal; ring).
    destruct (with_user_mean a (fun z => tail gauss (c / s + b * z)) Hs) as [M1 _]; [fold m; rewrite E; apply tail_test|].
    destruct (with_user_mean a (fun z => tail gauss (c / s - s + b * z)) Hs) as [M2 E2]; [fold m; rewrite E; apply tail_test|].
    destruct (without_user_mean a (fun z => tail gauss (c / s + b * z)) Hs) as [M3 E3]; [apply tail_test|].
    split; [|split].
    + split; [intro o; apply IH | exact (conj M2 (conj M1 M3))].
    + rewrite E3, tail_mixture. fold k. f_equal. field. lra.
    + rewrite E2. fold m. rewrite E, tail_mixture. fold k. f_equal.
      assert (s * k * (s * k) = m * m + s * s) as Q by (unfold k, b; rewrite (stretched m s Hr); apply sqrt_sqrt; nra).
      replace (c / s - s + b * m) with ((c - (m * m + s * s)) / s) by (unfold b; field; lra). rewrite <- Q. field. lra.
Qed.

(* The curve is attained. *)
Theorem gaussian_sessions_attain l : positive_runs l -> l <> [] -> forall x, 0 < x -> exists f, decision (gauss_session l) f
  /\ mean_first (gauss_session l) f - x * mean_second (gauss_session l) f = gauss_curve (root_of l) x.
Proof.
  intros H Hl x Hx. pose proof (root_of_pos l H Hl) as Hr. set (s := root_of l) in *. exists (exceeds l (ln x + s * s / 2)).
  destruct (exceeds_probability l H Hl (ln x + s * s / 2)) as [D [E2 E1]]. split; [exact D|]. rewrite E1, E2. fold s. unfold gauss_curve.
  replace (ln x / s + s / 2) with ((ln x + s * s / 2) / s) by (field; lra). reflexivity.
Qed.

(* And no smaller mu holds. *)
Lemma tail_falls a b : a < b -> tail gauss b < tail gauss a.
Proof.
  intro H. pose proof (half_pos gauss). destruct (MVT_gen (area_of bell) a b bell) as [z [_ E]].
  - intros t _. apply area_derive.
  - intros t _. apply continuity_pt_filterlim, (ex_derive_continuous (V := R_NormedModule)). eexists. apply area_derive.
  - pose proof (bell_pos z). unfold tail. change (area_of gauss) with (area_of bell).
    assert (area_of bell a / (2 * half_area gauss) < area_of bell b / (2 * half_area gauss)); [|lra].
    apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat; lra | nra].
Qed.

Theorem no_smaller_mu l mu : positive_runs l -> l <> [] -> mu < root_of l ->
  exists f, decision (gauss_session l) f /\ ~ as_hard_as mu (mean_first (gauss_session l) f) (mean_second (gauss_session l) f).
Proof.
  intros H Hl Hm. exists (exceeds l 0). destruct (exceeds_probability l H Hl 0) as [D [E2 E1]]. split; [exact D|]. rewrite E1, E2.
  intro A. specialize (A _ (Rle_refl _)). pose proof (tail_falls (0 / root_of l - root_of l) (0 / root_of l - mu) ltac:(lra)). lra.
Qed.

(* The sparse histogram with discrete Gaussian noise (GSHM): noise on each non-zero count, and only counts above 1 + tau are shown.

   A user has up to k counters. Those that others have as well move by at most 1; a counter that only this user has is 1, and without the
   user the key is hidden. The noisy counts of all shared keys tell as much as their sum does, a fresh key is shown with a small probability. *)
From Coq Require Import Reals Lra Lia ZArith QArith Qreals List Bool Permutation FunctionalExtensionality.
From Coquelicot Require Import Rcomplements.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Finite Fixed Exponential Logarithm Above Tops Noise NoiseTop Renyi Copies CopiesNormal Statement Bounds Checker Moments.
From DP Require Line Normal NormalTop.
Open Scope R_scope.

(* No test gains more than d. *)
Definition leaks (d : R) : class := fun Y P Q =>
  complete P /\ complete Q /\ forall f, test P f -> test Q f -> mean P f <= mean Q f + d.

(* The keys of one user ------------------------------------------------------------------------------------------------- *)

Section Keys.
Variables (num den : positive).  (* noise e^(-num/den z^2) *)
Variable tau : Z.
Let rate := noise_rate num den.
Let rate_pos := noise_rate_pos num den.
Let count (v : Z) : law Z := noisy true rate rate_pos v.

Definition shown (z : Z) : option Z := if (1 + tau <? z)%Z then Some z else None.
Definition hidden : law (option Z) := image (fun _ => None) (count 0).

Inductive shared_key : class :=
| is_shared (v w : Z) : (Z.abs (v - w) <= 1)%Z -> shared_key (option Z) (image shown (count v)) (image shown (count w)).
Inductive fresh_key : class := is_fresh : fresh_key (option Z) (image shown (count 1)) hidden.

(* A user with k counters, of which j are shared; the keys are seen one after the other, in any order. *)
Definition keys (j r : nat) : list class := repeat shared_key j ++ repeat fresh_key r.
Definition histogram_private (k : nat) (epsilon delta : R) : Prop :=
  forall j r, (j + r <= k)%nat -> forall s, spends (keys j r) s \/ spends (map reversed (keys j r)) s ->
  forall f, decision s f -> mean_first s f - exp epsilon * mean_second s f <= delta.

(* The probability that a count of 1 is shown. *)
Definition leak : R := total (fun z => noise true rate rate_pos z * (if (tau <? z)%Z then 1 else 0)).

Lemma map_repeat {A B} (g : A -> B) x n : map g (repeat x n) = repeat (g x) n.
Proof. induction n; simpl; congruence. Qed.

Lemma complete_image {O T} (g : O -> T) (P : law O) : complete P -> complete (image g P).
Proof. intros H h Hh. apply H. intro o. apply Hh. Qed.

Lemma shared_symmetric Y P Q : reversed shared_key Y P Q -> shared_key Y P Q.
Proof. intros [v w H]. constructor. lia. Qed.

Lemma shared_below n Y P Q : shared_key Y P Q -> below (curve (loss_law rate rate_pos n)) P Q.
Proof. intros [v w H]. apply post_processing_curve. apply (loss_law_below rate rate_pos n). now constructor. Qed.

Lemma bounded_by A (C : class) : proper A -> (exists Y P Q, C Y P Q) -> (forall Y P Q, C Y P Q -> below (curve A) P Q) -> bounded A C.
Proof.
  intros HA [Y [P [Q HC]]] H. split; [|exact H]. apply (below_hinge (curve A) P Q (H Y P Q HC)). intros x _. now apply curve_nonneg.
Qed.

Lemma shared_bounded n C : C = shared_key \/ C = reversed shared_key -> bounded (loss_law rate rate_pos n) C.
Proof.
  intro HC. apply bounded_by; [apply loss_law_proper | |].
  - exists (option Z), (image shown (count 0)), (image shown (count 0)). destruct HC as [-> | ->]; constructor; simpl; lia.
  - intros Y P Q H. apply shared_below. destruct HC as [-> | ->]; [exact H | now apply shared_symmetric].
Qed.

Lemma fresh_mean f : (forall o, 0 <= f o <= 1) -> Rabs (mean (image shown (count 1)) f - f None) <= leak.
Proof.
  intro Hf. change (mean (image shown (count 1)) f) with (total (fun z => noise true rate rate_pos z * f (shown (1 + z)))).
  set (p := noise true rate rate_pos). assert (f None = total (fun z => p z * f None)) as E.
  { replace (fun z => p z * f None) with (fun z => f None * p z) by (extensionality z; ring). rewrite total_scale, mass_total. ring. }
  assert (summable (fun z => p z * f (shown (1 + z)))) as S1 by (apply (summable_mass p (fun z => f (shown (1 + z)%Z))); exists 1; intro z; rewrite Rabs_pos_eq; apply Hf).
  assert (summable (fun z => p z * f None)) as S2 by (apply (summable_mass p (fun _ => f None)); exists 1; intro z; rewrite Rabs_pos_eq; apply Hf).
  assert (summable (fun z => p z * (if (tau <? z)%Z then 1 else 0))) as S3.
  { apply (summable_mass p (fun z => if (tau <? z)%Z then 1 else 0)). exists 1. intro z. destruct (tau <? z)%Z; rewrite Rabs_pos_eq; lra. }
  assert (forall z, Rabs (f (shown (1 + z)) - f None) <= if (tau <? z)%Z then 1 else 0) as B.
  { intro z. unfold shown. destruct (Z.ltb_spec (1 + tau) (1 + z)), (Z.ltb_spec tau z); try lia.
    - pose proof (Hf (Some (1 + z)%Z)). pose proof (Hf None). apply Rabs_le. lra.
    - unfold Rminus. rewrite Rplus_opp_r, Rabs_R0. lra. }
  rewrite E at 1. unfold leak. fold p. apply Rabs_le. split.
  - enough (total (fun z => p z * f None) <= total (fun z => p z * f (shown (1 + z)) + p z * (if (tau <? z)%Z then 1 else 0))) as L
      by (rewrite total_plus in L by assumption; lra).
    apply total_le; [assumption | now apply summable_plus |]. intro z. specialize (B z). pose proof (mass_nonneg p z). apply Rabs_le_between in B. nra.
  - enough (total (fun z => p z * f (shown (1 + z))) <= total (fun z => p z * f None + p z * (if (tau <? z)%Z then 1 else 0))) as L
      by (rewrite total_plus in L by assumption; lra).
    apply total_le; [assumption | now apply summable_plus |]. intro z. specialize (B z). pose proof (mass_nonneg p z). apply Rabs_le_between in B. nra.
Qed.

Lemma fresh_leaks Y P Q : fresh_key Y P Q -> leaks leak Y P Q /\ leaks leak Y Q P.
Proof.
  intros [ ]. assert (complete (image shown (count 1)) /\ complete hidden) as [C1 C2] by (split; apply complete_image, noisy_complete).
  assert (forall f : option Z -> R, mean hidden f = f None) as H by (intro f; exact (mean_const (count 0) (f None))).
  split; split; auto; split; auto; intros f [_ F1] _; rewrite H; pose proof (fresh_mean f F1) as B; apply Rabs_le_between in B; lra.
Qed.

Lemma leak_nonneg : 0 <= leak.
Proof.
  apply total_nonneg.
  - apply (summable_mass (noise true rate rate_pos) (fun z => if (tau <? z)%Z then 1 else 0)). exists 1. intro z. destruct (tau <? z)%Z; rewrite Rabs_pos_eq; lra.
  - intro z. pose proof (mass_nonneg (noise true rate rate_pos) z). destruct (tau <? z)%Z; nra.
Qed.

Lemma fresh_bounded l C : leak <= l <= 1 -> C = fresh_key \/ C = reversed fresh_key -> bounded (telling l) C.
Proof.
  intros Hl HC. pose proof leak_nonneg as L0. apply bounded_by; [apply telling_proper; lra | |].
  - destruct HC as [-> | ->]; [exists (option Z), (image shown (count 1)), hidden | exists (option Z), hidden, (image shown (count 1))]; constructor.
  - intros Y P Q H. assert (leaks leak Y P Q) as [CP [CQ B]] by (destruct HC as [-> | ->]; [apply (fresh_leaks Y P Q H) | apply (fresh_leaks Y Q P H)]).
    intros f Pf Qf x Hx. specialize (B f Pf Qf). pose proof (mean_bounds P f Pf). pose proof (mean_bounds Q f Qf).
    unfold curve. rewrite act_unfold. cbn [telling infinite atoms sum fst snd]. rewrite hinge_0. replace (x / 1) with x by field.
    unfold hinge. destruct (Rle_dec x 1); [rewrite Rmax_right by lra | rewrite Rmax_left by lra]; nra.
Qed.

(* A case: j shared keys and r fresh ones. The noise of all shared keys tells as their sum does, and each fresh key tells with probability l. *)
Theorem histogram_case l j r : leak <= l <= 1 -> forall s, spends (keys j r) s \/ spends (map reversed (keys j r)) s ->
  forall f, decision s f -> forall x, 1 <= x ->
  mean_first s f - x * mean_second s f <= 1 - (1 - l) ^ r + match j with O => 0 | S i => together rate i x end.
Proof.
  intros Hl s Hs f Hf x Hx. pose proof leak_nonneg as L0.
  assert (exists C D, (C = shared_key \/ C = reversed shared_key) /\ (D = fresh_key \/ D = reversed fresh_key) /\ spends (repeat C j ++ repeat D r) s)
    as [C [D [HC [HD H]]]].
  { destruct Hs as [H|H].
    - exists shared_key, fresh_key. auto.
    - exists (reversed shared_key), (reversed fresh_key). unfold keys in H. rewrite map_app, !map_repeat in H. auto. }
  destruct j as [|i].
  - assert (mean_first s f - x * mean_second s f <= chain (repeat (telling l) r) x) as B.
    { apply (composition (repeat (telling l) r) (repeat D r)); [| |exact H|exact Hf|lra].
      - apply Forall_forall. intros A HA. apply repeat_spec in HA. subst A. apply telling_proper. lra.
      - pose proof (fresh_bounded l D Hl HD) as G. clear - G. induction r; simpl; constructor; auto. }
    pose proof (chain_telling l r x ltac:(lra) ltac:(lra)) as T. unfold hinge in T. rewrite Rmax_left in T by lra. lra.
  - apply (copies_session rate rate_pos C D l i r ltac:(lra)); [intro n; now apply shared_bounded | now apply fresh_bounded | exact H | exact Hf | lra].
Qed.

(* What a user with fewer keys does, one with more keys can do. *)
Lemma spends_more s : forall Cs Ds Es, Permutation Es (Cs ++ Ds) -> spends Cs s -> spends Es s.
Proof.
  induction s as [|Y P Q next IH]; intros Cs Ds Es HE Hs; [exact Logic.I|]. destruct Hs as [C [rest [Hp [HC Hn]]]].
  exists C, (rest ++ Ds). split; [rewrite HE, Hp; reflexivity|]. split; [exact HC|]. intro o. now apply (IH o rest Ds (rest ++ Ds)).
Qed.

Lemma repeat_split {A} (x : A) m n : (m <= n)%nat -> repeat x n = repeat x m ++ repeat x (n - m).
Proof. intro H. rewrite <- repeat_app. f_equal. lia. Qed.

Lemma keys_more j r m n s : (j <= m)%nat -> (r <= n)%nat -> spends (keys j r) s \/ spends (map reversed (keys j r)) s ->
  spends (keys m n) s \/ spends (map reversed (keys m n)) s.
Proof.
  intros Hj Hr Hs. unfold keys in *. rewrite map_app, !map_repeat in *. rewrite (repeat_split _ j m Hj), (repeat_split _ r n Hr), (repeat_split (reversed _) j m Hj), (repeat_split (reversed _) r n Hr).
  assert (forall a b c d : list class, Permutation ((a ++ b) ++ c ++ d) ((a ++ c) ++ (b ++ d))) as P.
  { intros a b c d. rewrite <- !app_assoc. apply Permutation_app_head. rewrite !app_assoc. apply Permutation_app_tail, Permutation_app_comm. }
  destruct Hs as [Hs|Hs]; [left | right]; eapply spends_more; [apply P | exact Hs | apply P | exact Hs].
Qed.
End Keys.

(* Computed: the cases in parts, first <= j <= last, with the noise of `last` keys and k - first fresh keys ----------------------- *)

Section Computed.
Variable p : positive.
Variables (num den : positive).
Variables (k tau : Z) (eps bound : Q).
Let c : Q := Qmake (Zpos num) den.  (* 1/(2 sigma^2) *)
Let half := NormalTop.half_area_ends p.
Let twice := over p (whole p 1) (plus half half).

(* Whether the sum of the noise of so many counts has at most 8192 probabilities to list. *)
Definition listed (last : positive) : bool :=
  (2 * (1 + Z.sqrt (180 * (Zpos den * Zpos last) / Zpos num)) + Zpos last <=? 8192)%Z.

(* The probability that a fresh key is shown, from above. *)
Definition leak_by_area : ends :=
  let t := times p (NormalTop.root p (real p (2 * c)%Q)) (real p (inject_Z tau + (1 # 2))%Q) in
  let w := NormalTop.growth p (times p t t) in
  times p (exponential p (real p (c / 4)%Q)) (minus (ratio p 1 2) (times p (NormalTop.any_area_ends p half t w) twice)).
Definition leak_by_list : ends :=
  let n := reach p true num den in
  let m := Z.to_nat (Z.of_nat n - tau) in
  let e := (tau + 1 + Z.of_nat m)%Z in
  over p (plus (sum_ends p (map (fun z => decay p num den (exponent true z)) (next_ones tau m)))
            (times p (decay p num den (exponent true e))
              (over p (whole p 1) (minus (whole p 1) (decay p num den (exponent true (e + 1) - exponent true e))))))
    (sum_ends p (map fst (noise_pairs p true num den n 0))).
Definition leak_ends : ends := if listed 1 then leak_by_list else leak_by_area.
Definition leak_top : option Z :=
  match leak_ends with Some (_, l) => if (0 <=? l)%Z && (l <? one p)%Z then Some l else None | None => None end.

Definition fresh_ends (l : Z) (r : Z) : ends :=
  minus (whole p 1) (exponential p (times p (whole p r) (logarithm p (minus (whole p 1) (exactly l))))).

(* By areas, at so many keys that the threshold is no more than 128 standard deviations away. *)
Definition by_areas (last : positive) : ends :=
  let j := inject_Z (Zpos last) in
  let mu := NormalTop.root p (real p (2 * c * j)%Q) in
  let y := ((eps / 2 + c) / j + c / 2)%Q in
  let v := ((eps - c * j) * (eps - c * j) / (4 * (c * j)))%Q in
  times p (exponential p (real p (32 * (c * c * (c * c)) * j + c / j / 4)%Q))
    (plus (NormalTop.gauss_at p half twice mu (over p (whole p 1) mu) (real p eps) (exponential p (real p eps)))
      (times p (times p (exponential p (real p (y - v)%Q)) (real p (y / 4 + c / eps)%Q))
        (times p (NormalTop.root p (real p (2 * c / j)%Q)) twice))).
Definition near_enough (last : positive) : positive :=
  Z.to_pos (Z.max (Zpos last) (Qnum eps * Qnum eps * Zpos den / (32768 * (QDen eps * QDen eps) * Zpos num) + 1)).

(* Or by the list of the probabilities of the sum, if it has at most 8192 of them. *)
Definition by_list (last : positive) : ends :=
  times p (exponential p (real p (34 * (c * c * (c * c)) * inject_Z (Zpos last))%Q))
    (noise_ends p true num (den * last) (Pos.to_nat last) (reach p true num (den * last)) (exponential p (real p eps))).
Definition shared_ends (last : Z) : ends :=
  match last with
  | Zpos j => if listed j then by_list j else by_areas (near_enough j)
  | _ => whole p 0
  end.

Fixpoint parts_hold (l : Z) (starts : list Z) : bool :=
  match starts with
  | [] => true
  | first :: rest =>
      let last := match rest with [] => k | next :: _ => (next - 1)%Z end in
      (0 <=? first)%Z && (last <=? k)%Z && at_most p (plus (fresh_ends l (Z.max 0 (k - first))) (shared_ends last)) bound && parts_hold l rest
  end.
Definition histogram_rule (starts : list Z) : bool :=
  match starts, leak_top with
  | 0%Z :: _, Some l => (0 <=? k)%Z && (0 <=? tau)%Z && (2 * Zpos num <=? Zpos den)%Z && negb (Qle_bool eps 0) && parts_hold l starts
  | _, _ => false
  end.

Let rate := noise_rate num den.
Let rate_pos : 0 < rate := noise_rate_pos num den.

Lemma c_rate : Q2R c = rate.
Proof. reflexivity. Qed.

Lemma half_holds : holds p half (Line.half_area Normal.gauss).
Proof. apply NormalTop.half_area_holds. Qed.
Lemma twice_holds : holds p twice (1 / (Line.half_area Normal.gauss + Line.half_area Normal.gauss)).
Proof. apply over_holds; [apply (whole_holds p 1)|]. apply plus_holds; apply half_holds. Qed.

Lemma leak_by_area_holds : holds p leak_by_area (exp (rate / 4) * Moves.tail Normal.gauss (sqrt (2 * rate) * (IZR tau + / 2))).
Proof.
  unfold leak_by_area. set (t := sqrt (2 * rate) * (IZR tau + / 2)).
  assert (forall q, Q2R (inject_Z q) = IZR q) as E by (intro q; unfold Q2R; simpl; lra).
  assert (Q2R (2 * c) = 2 * rate) as E2 by (rewrite Q2R_mult, c_rate; unfold Q2R; simpl; lra).
  assert (Q2R (inject_Z tau + (1 # 2)) = IZR tau + / 2) as E1 by (rewrite Q2R_plus, E; unfold Q2R; simpl; lra).
  assert (Q2R (c / 4) = rate / 4) as E4 by (rewrite Q2R_div, c_rate by discriminate; unfold Q2R; simpl; field).
  assert (holds p (times p (NormalTop.root p (real p (2 * c)%Q)) (real p (inject_Z tau + (1 # 2))%Q)) t) as Ht.
  { apply times_holds; [rewrite <- E2; apply NormalTop.root_holds, real_holds | rewrite <- E1; apply real_holds]. }
  pose proof (NormalTop.growth_holds p _ _ (times_holds p _ _ _ _ Ht Ht)) as Hw.
  apply times_holds; [rewrite <- E4; apply exponential_holds, real_holds|]. unfold Moves.tail. pose proof (Moves.half_pos Normal.gauss).
  replace (/ 2 - Line.area_of (Line.height Normal.gauss) t / (2 * Line.half_area Normal.gauss))
    with (1 / IZR 2 - Line.area_of (Line.height Normal.gauss) t * (1 / (Line.half_area Normal.gauss + Line.half_area Normal.gauss))) by (field; lra).
  apply minus_holds; [apply (ratio_holds p 1 2)|]. apply times_holds; [now apply NormalTop.any_area_holds; [apply half_holds | |] | apply twice_holds].
Qed.

Lemma leak_ends_hold : (0 <= tau)%Z -> exists x, holds p leak_ends x /\ leak num den tau <= x.
Proof.
  intro Ht. unfold leak_ends. destruct (listed 1).
  - unfold leak_by_list. set (n := reach p true num den). set (m := Z.to_nat (Z.of_nat n - tau)). cbv zeta.
    eexists. split; [|apply (noise_above_listed rate rate_pos tau m n Ht)]. apply over_holds; [apply plus_holds|].
    + pose proof (sum_ends_holds p (map (fun z => decay p num den (exponent true z)) (next_ones tau m)) (map (weight true rate) (next_ones tau m))) as S.
      rewrite sum_map in S. apply S. clear. induction (next_ones tau m); simpl; constructor; [apply decay_holds | assumption].
    + apply times_holds; [apply decay_holds|]. apply over_holds; [apply (whole_holds p 1)|]. apply minus_holds; [apply (whole_holds p 1) | apply decay_holds].
    + apply noise_sum_holds.
  - eexists. split; [apply leak_by_area_holds | apply (noise_above rate rate_pos tau)].
Qed.

Lemma leak_top_holds l : (0 <= tau)%Z -> leak_top = Some l -> leak num den tau <= real_of p l < 1.
Proof.
  intro Ht. unfold leak_top. destruct (leak_ends_hold Ht) as [x [H L]]. destruct leak_ends as [[a b]|]; [|discriminate].
  destruct (Z.leb_spec 0 b), (Z.ltb_spec b (one p)); try discriminate. intro E. inversion E; subst l; clear E.
  pose proof (one_posR p) as Ho. unfold real_of. split; apply Rmult_le_reg_r with (IZR (one p)) || apply Rmult_lt_reg_r with (IZR (one p)); try assumption;
    unfold Rdiv; rewrite (Rmult_assoc (IZR b)), Rinv_l, Rmult_1_r by lra.
  - simpl in H. assert (leak num den tau * IZR (one p) <= x * IZR (one p)) by (apply Rmult_le_compat_r; lra). lra.
  - rewrite Rmult_1_l. now apply IZR_lt.
Qed.

Lemma fresh_ends_hold l r : 0 <= real_of p l < 1 -> holds p (fresh_ends l (Z.of_nat r)) (1 - (1 - real_of p l) ^ r).
Proof.
  intro Hl. set (x := real_of p l) in *. apply minus_holds; [apply (whole_holds p 1)|].
  assert ((1 - x) ^ r = exp (IZR (Z.of_nat r) * ln (1 - x))) as ->.
  { rewrite <- INR_IZR_INZ. induction r as [|r IH]; [simpl; now rewrite Rmult_0_l, exp_0|]. rewrite S_INR, Rmult_plus_distr_r, exp_plus, Rmult_1_l, exp_ln by lra.
    simpl. rewrite IH. ring. }
  apply exponential_holds, times_holds; [apply whole_holds|]. apply logarithm_holds. apply minus_holds; [apply (whole_holds p 1) | apply exactly_holds].
Qed.

Lemma natural_Q n : Q2R (Qmake (Zpos n) 1) = IZR (Zpos n).
Proof. unfold Q2R. simpl. lra. Qed.

Lemma by_areas_hold last : rate <= / 2 -> 0 < Q2R eps ->
  exists e, holds p (by_areas last) e /\ together rate (pred (Pos.to_nat last)) (exp (Q2R eps)) <= e.
Proof.
  intros Hc He. unfold by_areas. set (Y := Q2R eps) in *. pose proof (Moves.half_pos Normal.gauss) as Hh. set (h := Line.half_area Normal.gauss) in *.
  assert (1 < exp Y) as Hx by (rewrite <- exp_0; now apply exp_increasing).
  set (j := inject_Z (Zpos last)). cbv zeta. set (y := ((eps / 2 + c) / j + c / 2)%Q). set (v := ((eps - c * j) * (eps - c * j) / (4 * (c * j)))%Q).
  set (B := IZR (Zpos last)). assert (1 <= B) as HB by (apply IZR_le; lia). assert (Q2R j = B) as Ej by apply natural_Q.
  assert (0 < rate) as Hr by apply rate_pos. pose proof natural_Q as En. assert (0 < rate * B) as HrB by nra.
  assert (~ j == 0)%Q as Nj by (intro Z; apply Qeq_eqR in Z; rewrite Ej in Z; unfold Q2R in Z; simpl in Z; lra).
  assert (~ eps == 0)%Q as Ne by (intro Z; apply Qeq_eqR in Z; fold Y in Z; unfold Q2R in Z; simpl in Z; lra).
  assert (Q2R y = (Y / 2 + rate) / B + rate / 2) as Ey by (unfold y; rewrite Q2R_plus, !Q2R_div, Q2R_plus, Q2R_div, c_rate, Ej, En by (discriminate || assumption); reflexivity).
  assert (Q2R v = (Y - rate * B) * (Y - rate * B) / (4 * (rate * B))) as Ev.
  { unfold v. rewrite Q2R_div, !Q2R_mult, Q2R_minus, Q2R_mult, c_rate, Ej, En; [reflexivity|].
    intro Z. apply Qeq_eqR in Z. rewrite !Q2R_mult, c_rate, Ej, En in Z. unfold Q2R in Z. simpl in Z. lra. }
  set (mu := sqrt (2 * rate * B)). assert (0 < mu) as Hmu by (apply sqrt_lt_R0; nra).
  exists (exp (32 * rate ^ 4 * B + rate / B / 4) * (Normal.gauss_curve mu (exp Y) + exp (Q2R y - Q2R v) * (Q2R y / 4 + rate / Y) * (sqrt (2 * rate / B) * (1 / (h + h))))).
  split.
  - apply times_holds; [|apply plus_holds; [|apply times_holds; [apply times_holds|apply times_holds]]].
    + apply exponential_holds. assert (Q2R (32 * (c * c * (c * c)) * j + c / j / 4) = 32 * rate ^ 4 * B + rate / B / 4) as <-; [|apply real_holds].
      rewrite Q2R_plus, !Q2R_mult, !Q2R_div, c_rate, Ej, !En by (discriminate || assumption). ring.
    + assert (holds p (NormalTop.root p (real p (2 * c * j)%Q)) mu) as Hm.
      { unfold mu. assert (Q2R (2 * c * j) = 2 * rate * B) as <- by (rewrite !Q2R_mult, c_rate, Ej, En; reflexivity). apply NormalTop.root_holds, real_holds. }
      apply NormalTop.gauss_at_holds; [exact Hmu | apply half_holds | exact Hm | | apply real_holds | apply exponential_holds, real_holds].
      apply over_holds; [apply (whole_holds p 1) | exact Hm].
    + rewrite <- Q2R_minus. apply exponential_holds, real_holds.
    + assert (Q2R (y / 4 + c / eps) = Q2R y / 4 + rate / Y) as <-; [|apply real_holds]. rewrite Q2R_plus, !Q2R_div, c_rate, En by (discriminate || assumption). reflexivity.
    + assert (Q2R (2 * c / j) = 2 * rate / B) as <- by (rewrite Q2R_div, Q2R_mult, c_rate, Ej, En by assumption; reflexivity). apply NormalTop.root_holds, real_holds.
    + apply twice_holds.
  - pose proof (together_areas rate rate_pos Hc (pred (Pos.to_nat last)) (Q2R v) (exp Y) Hx) as T. cbv zeta in T.
    rewrite ln_exp, (Nat.succ_pred_pos (Pos.to_nat last) (Pos2Nat.is_pos last)), INR_IZR_INZ, positive_nat_Z in T. fold B mu in T. rewrite <- Ey in T.
    replace (sqrt (2 * rate / B) * (1 / (h + h))) with (sqrt (2 * rate / B) / (h + h)) by (field; lra). apply T. right. rewrite Ev. lra.
Qed.

Lemma by_list_hold last : rate <= / 2 -> exists e, holds p (by_list last) e /\ together rate (pred (Pos.to_nat last)) (exp (Q2R eps)) <= e.
Proof.
  intro Hc. unfold by_list. set (n := reach p true num (den * last)). set (x := exp (Q2R eps)). assert (0 < x) as Hx by apply exp_pos.
  pose proof (noise_ends_holds p true num (den * last) (Pos.to_nat last) n _ x (exponential_holds p _ _ (real_holds p eps))) as N.
  rewrite positive_nat_Z in N. replace (noise_rate num (den * last)) with (rate / IZR (Zpos last)) in N
    by (unfold rate, noise_rate; rewrite Pos2Z.inj_mul, mult_IZR; field; split; now apply not_0_IZR).
  exists (exp (34 * rate ^ 4 * IZR (Zpos last)) * shifted_excess true (rate / IZR (Zpos last)) (Zpos last) n x). split.
  - apply times_holds; [|exact N]. apply exponential_holds.
    assert (Q2R (34 * (c * c * (c * c)) * inject_Z (Zpos last)) = 34 * rate ^ 4 * IZR (Zpos last)) as <-; [|apply real_holds].
    rewrite !Q2R_mult, c_rate. unfold inject_Z. rewrite !natural_Q. ring.
  - pose proof (together_listed rate rate_pos Hc (pred (Pos.to_nat last)) n x ltac:(lra)) as L. cbv zeta in L.
    rewrite (Nat.succ_pred_pos (Pos.to_nat last) (Pos2Nat.is_pos last)), positive_nat_Z in L. exact L.
Qed.

Lemma shared_ends_hold last : rate <= / 2 -> 0 < Q2R eps -> (0 <= last)%Z ->
  exists m e, (Z.to_nat last <= m)%nat /\ holds p (shared_ends last) e /\ match m with O => 0 | S i => together rate i (exp (Q2R eps)) end <= e.
Proof.
  intros Hc He Hl. destruct last as [|j|j]; [exists O, 0; split; [simpl; lia|]; split; [apply (whole_holds p 0) | lra] | | lia].
  unfold shared_ends. simpl Z.to_nat.
  destruct (listed j); [destruct (by_list_hold j Hc) as [e [H1 H2]]; exists (Pos.to_nat j) | destruct (by_areas_hold (near_enough j) Hc He) as [e [H1 H2]]; exists (Pos.to_nat (near_enough j))];
    exists e; (split; [|split; [exact H1|]]).
  - lia.
  - rewrite <- (Nat.succ_pred_pos (Pos.to_nat j) (Pos2Nat.is_pos j)) at 1. exact H2.
  - apply Pos2Nat.inj_le. unfold near_enough. change (Zpos j <= Zpos (Z.to_pos (Z.max (Zpos j) (Qnum eps * Qnum eps * Zpos den / (32768 * (QDen eps * QDen eps) * Zpos num) + 1))))%Z.
    rewrite Z2Pos.id; lia.
  - rewrite <- (Nat.succ_pred_pos (Pos.to_nat (near_enough j)) (Pos2Nat.is_pos _)) at 1. exact H2.
Qed.

Lemma parts_sound l : leak num den tau <= real_of p l < 1 -> rate <= / 2 -> 0 < Q2R eps ->
  forall starts first, hd k starts = first -> parts_hold l starts = true ->
  forall j r, (first <= Z.of_nat j)%Z -> (Z.of_nat j + Z.of_nat r <= k)%Z -> (starts <> []) ->
  forall s, spends (keys num den tau j r) s \/ spends (map reversed (keys num den tau j r)) s ->
  forall f, decision s f -> mean_first s f - exp (Q2R eps) * mean_second s f <= Q2R bound.
Proof.
  intros Hl Hc He. pose proof (leak_nonneg num den tau) as L0. induction starts as [|start rest IH]; intros first Hf H j r Hj Hk Hn s Hs f Df; [congruence|].
  simpl in Hf. subst start. cbn [parts_hold] in H. rewrite !andb_true_iff, !Z.leb_le in H. destruct H as [[[H0 Hlast] Hb] Hr].
  set (last := match rest with [] => k | next :: _ => (next - 1)%Z end) in *.
  destruct (Z.le_gt_cases (Z.of_nat j) last) as [L|L].
  - destruct (shared_ends_hold last Hc He ltac:(lia)) as [m [e [M [E F]]]].
    pose proof (fresh_ends_hold l (Z.to_nat (k - first)) ltac:(lra)) as G. rewrite Z2Nat.id in G by lia. rewrite Z.max_r in Hb by lia.
    pose proof (at_most_sound p _ _ _ (plus_holds p _ _ _ _ G E) Hb) as B.
    assert (1 <= exp (Q2R eps)) as Hx by (rewrite <- exp_0; apply exp_le; lra).
    apply (keys_more num den tau j r m (Z.to_nat (k - first)) s ltac:(lia) ltac:(lia)) in Hs.
    pose proof (histogram_case num den tau (real_of p l) m (Z.to_nat (k - first)) ltac:(lra) s Hs f Df (exp (Q2R eps)) Hx) as C. fold rate in C. lra.
  - unfold last in L. destruct rest as [|next rest']; [lia|]. apply (IH next eq_refl Hr j r ltac:(lia) Hk ltac:(discriminate) s Hs f Df).
Qed.

Theorem histogram_by_cases starts : histogram_rule starts = true -> histogram_private num den tau (Z.to_nat k) (Q2R eps) (Q2R bound).
Proof.
  unfold histogram_rule. destruct starts as [|[|start|start] rest]; try discriminate. pose proof leak_top_holds as LT.
  destruct leak_top as [l|]; [|discriminate].
  rewrite !andb_true_iff, negb_true_iff, !Z.leb_le. intros [[[[Hk0 Ht] Hc] He] H]. specialize (LT l Ht eq_refl).
  intros j r Hk s Hs f Hf. apply (parts_sound l LT) with (starts := 0%Z :: rest) (first := 0%Z) (j := j) (r := r); auto; try lia; try discriminate.
  - unfold rate, noise_rate. apply IZR_le in Hc. rewrite mult_IZR in Hc. assert (0 < IZR (Zpos den)) by now apply IZR_lt.
    apply Rmult_le_reg_r with (IZR (Zpos den)); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
  - assert (0 < eps)%Q as L by (apply Qnot_le_lt; intro L; apply Qle_bool_iff in L; congruence). apply Qlt_Rlt in L. unfold Q2R at 1 in L. simpl in L. lra.
Qed.
End Computed.

(* In the words of a statement: `k`, `sigma2` and `tau` of the mechanism discrete-sparse-histogram. *)
Definition private_histogram (k : positive) (sigma2 : fraction) (tau : Z) (epsilon delta : R) : Prop :=
  histogram_private (denominator sigma2) (2 * numerator sigma2) tau (Pos.to_nat k) epsilon delta.
Definition program_histogram (p k : positive) (sigma2 : fraction) (tau : Z) (eps bound : Q) (starts : list Z) : bool :=
  histogram_rule p (denominator sigma2) (2 * numerator sigma2) (Zpos k) tau eps bound starts.

Theorem program_histogram_sound p k sigma2 tau eps bound starts : program_histogram p k sigma2 tau eps bound starts = true ->
  private_histogram k sigma2 tau (Q2R eps) (Q2R bound).
Proof. apply histogram_by_cases. Qed.

(* README's question, for discrete noise: users with up to 51914 counters, epsilon = 0.35, delta = 1e-5. The noise and the threshold are those
   of README's table: sigma = 2222.636399 and tau = 13913. *)
Theorem readme_histogram : private_histogram 51914 (Fraction (2222636399 * 2222636399) (10 ^ 12)) 13913 (Q2R (7 # 20)) (Q2R (1 # 100000)).
Proof.
  apply (program_histogram_sound 80 _ _ _ _ _ [0; 1371; 34048; 49013; 51501; 51857; 51907; 51914]%Z).
  vm_cast_no_check (eq_refl true).
Qed.

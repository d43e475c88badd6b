(* The sum over integer noise as the checker computes it. *)
From Coq Require Import Reals Lra Lia ZArith List Bool FunctionalExtensionality.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Finite Fixed Exponential Above Tops Noise.
Open Scope R_scope.

Section NoiseTop.
Variable p : positive.
Variable square : bool.
Variables (num den : positive).  (* e^(-num/den z^2) or e^(-num/den |z|) *)

Definition noise_rate : R := IZR (Zpos num) / IZR (Zpos den).
Lemma noise_rate_pos : 0 < noise_rate.
Proof. apply Rmult_lt_0_compat; [now apply IZR_lt | now apply Rinv_0_lt_compat, IZR_lt]. Qed.

(* e^(-num/den k) *)
Definition decay (k : Z) : ends := exponential p (ratio p (- (Zpos num * k)) den).
Lemma decay_holds k : holds p (decay k) (exp (- noise_rate * IZR k)).
Proof.
  unfold decay. replace (- noise_rate * IZR k) with (IZR (- (Zpos num * k)) / IZR (Zpos den)).
  - apply exponential_holds, ratio_holds.
  - unfold noise_rate. rewrite opp_IZR, mult_IZR. field. now apply not_0_IZR.
Qed.

(* The weights of 0, 1, ..., m - 1, and so those of -n, ..., n + shift. *)
Definition half (m : nat) : list ends := map (fun k => decay (exponent square (Z.of_nat k))) (seq 0 m).
Definition line (n shift : nat) : list ends :=
  let h := half (n + shift + 1) in rev (firstn n (tl h)) ++ h.

Lemma map_seq_eq (f g : nat -> ends) n : forall s t, (forall k, (k < n)%nat -> f (s + k)%nat = g (t + k)%nat) ->
  map f (seq s n) = map g (seq t n).
Proof.
  induction n as [|n IH]; intros s t H; simpl; [reflexivity|]. f_equal.
  - specialize (H 0%nat ltac:(lia)). now rewrite !Nat.add_0_r in H.
  - apply IH. intros k Hk. specialize (H (S k) ltac:(lia)). now rewrite !Nat.add_succ_r in H.
Qed.

Definition at_place (n : nat) (k : nat) : ends := decay (exponent square (Z.of_nat k - Z.of_nat n)).

Lemma firstn_seq m : forall n s, (n <= m)%nat -> firstn n (seq s m) = seq s n.
Proof. induction m as [|m IH]; intros [|n] s H; simpl; try reflexivity; try lia. f_equal. apply IH. lia. Qed.

Lemma rev_seq_map (f : nat -> ends) n : rev (map f (seq 1 n)) = map (fun k => f (n - k)%nat) (seq 0 n).
Proof.
  induction n as [|n IH]; [reflexivity|]. rewrite seq_S, map_app, rev_app_distr, IH. simpl. f_equal.
  rewrite <- seq_shift, map_map. apply map_ext_in. intros k _. f_equal.
Qed.

Lemma line_spec n shift : line n shift = map (at_place n) (seq 0 (2 * n + shift + 1)).
Proof.
  unfold line, half. replace (n + shift + 1)%nat with (S (n + shift)) by lia. cbn [seq map tl].
  rewrite firstn_map, firstn_seq by lia. rewrite rev_seq_map.
  replace (2 * n + shift + 1)%nat with (n + S (n + shift))%nat by lia. rewrite (seq_app n (S (n + shift)) 0), (map_app (at_place n)). f_equal.
  - apply map_ext_in. intros k Hk. apply in_seq in Hk. unfold at_place.
    rewrite <- (exponent_even square (Z.of_nat k - Z.of_nat n)). f_equal. f_equal. lia.
  - change (decay (exponent square (Z.of_nat 0)) :: map (fun k => decay (exponent square (Z.of_nat k))) (seq 1 (n + shift)))
      with (map (fun k => decay (exponent square (Z.of_nat k))) (seq 0 (S (n + shift)))).
    apply map_seq_eq. intros k _. unfold at_place. f_equal. f_equal. lia.
Qed.

(* (weight k, weight (k + shift)) for k = -n, ..., n *)
Definition noise_pairs (n shift : nat) : list (ends * ends) :=
  let l := line n shift in combine (firstn (2 * n + 1) l) (skipn shift l).

Definition weight_r := weight square noise_rate.

Lemma combine_map {A B C} (f : A -> B) (g : A -> C) l : combine (map f l) (map g l) = map (fun a => (f a, g a)) l.
Proof. induction l; simpl; congruence. Qed.
Lemma skipn_seq k : forall s m, (k <= m)%nat -> skipn k (seq s m) = seq (s + k) (m - k).
Proof.
  induction k as [|k IH]; intros s m H; simpl.
  - now rewrite Nat.add_0_r, Nat.sub_0_r.
  - destruct m as [|m]; [lia|]. simpl. rewrite IH by lia. f_equal; lia.
Qed.

Lemma noise_pairs_spec n shift :
  Forall2 (fun e c => holds p (fst e) (fst c) /\ holds p (snd e) (snd c)) (noise_pairs n shift)
    (map (fun k => (weight_r k, weight_r (k + Z.of_nat shift)%Z)) (around n)).
Proof.
  unfold noise_pairs. rewrite line_spec, firstn_map, skipn_map, firstn_seq, skipn_seq by lia.
  replace (2 * n + shift + 1 - shift)%nat with (2 * n + 1)%nat by lia. simpl (0 + shift)%nat.
  assert (map (at_place n) (seq shift (2 * n + 1)) = map (fun k => at_place n (k + shift)%nat) (seq 0 (2 * n + 1))) as ->.
  { clear. generalize (2 * n + 1)%nat. intro m.
    apply (map_seq_eq (at_place n) (fun k => at_place n (k + shift)%nat) m shift 0).
    intros k _. f_equal. lia. }
  rewrite combine_map. unfold around. rewrite map_map. induction (seq 0 (2 * n + 1)) as [|k l IH]; simpl; constructor; [|exact IH].
  unfold at_place, weight_r, weight. simpl. split; [apply decay_holds|].
  replace (Z.of_nat k - Z.of_nat n + Z.of_nat shift)%Z with (Z.of_nat (k + shift) - Z.of_nat n)%Z by lia. apply decay_holds.
Qed.

Fixpoint sum_ends (l : list ends) : ends := match l with [] => whole p 0 | u :: rest => plus u (sum_ends rest) end.

Lemma sum_ends_holds l (xs : list R) : Forall2 (holds p) l xs -> holds p (sum_ends l) (sum (fun x => x) xs).
Proof. induction 1; simpl; [apply (whole_holds p 0) | now apply plus_holds]. Qed.

(* 2 weight (n + 1) / (1 - fall (n + 1)) *)
Definition tail_ends (n : nat) : ends :=
  let c := (Z.of_nat n + 1)%Z in
  times p (decay (exponent square c))
    (over p (whole p 2) (minus (whole p 1) (decay (exponent square (c + 1) - exponent square c)))).

Lemma tail_ends_holds n : holds p (tail_ends n) (tail_bound square noise_rate n).
Proof.
  apply times_holds; [apply decay_holds|]. apply over_holds; [apply (whole_holds p 2)|].
  apply minus_holds; [apply (whole_holds p 1) | apply decay_holds].
Qed.

Definition noise_ends (shift n : nat) : ends -> ends :=
  let pairs := noise_pairs n shift in
  let all := sum_ends (map fst pairs) in
  let tail := tail_ends n in
  fun X => over p (plus (excess_ends p pairs X) tail) all.
Definition noise_top (shift n : nat) : top := let at_one := noise_ends shift n in fun X => upper_end (at_one X).

Lemma noise_sum_holds (shift n : nat) : holds p (sum_ends (map fst (noise_pairs n shift))) (sum weight_r (around n)).
Proof.
  pose proof (noise_pairs_spec n shift) as H.
  pose proof (sum_ends_holds (map fst (noise_pairs n shift)) (map weight_r (around n))) as S. rewrite sum_map in S. apply S.
  clear - H. revert H. generalize (noise_pairs n shift). induction (around n) as [|k l IH]; intros [|[u v] m] H; inversion H; subst; simpl; constructor.
  - simpl in *. tauto.
  - now apply IH.
Qed.

Lemma noise_ends_holds (shift n : nat) X x : holds p X x -> holds p (noise_ends shift n X) (shifted_excess square noise_rate (Z.of_nat shift) n x).
Proof.
  intro HX. unfold noise_ends, shifted_excess. pose proof (noise_pairs_spec n shift) as H.
  apply over_holds; [apply plus_holds|].
  - pose proof (excess_ends_holds p _ _ X x H HX) as E. unfold excess in E. rewrite sum_map in E. exact E.
  - apply tail_ends_holds.
  - apply noise_sum_holds.
Qed.

Theorem tops_noise (shift n : nat) : tops p (noise_top shift n) (moved square noise_rate noise_rate_pos (Z.of_nat shift)).
Proof.
  intros X x t HX Hx Ht Y P Q HC f Pf Qf.
  eapply Rle_trans; [apply (moved_below square noise_rate noise_rate_pos (Z.of_nat shift) n Y P Q HC f Pf Qf x); lra|].
  apply (upper_end_ge p _ _ _ (noise_ends_holds shift n X x HX) Ht).
Qed.

(* How far to sum: the weight of n is below 2^-p. *)
Definition reach : nat :=
  let c := (Zpos p * 45 * Zpos den / (64 * Zpos num))%Z in
  Z.to_nat (1 + if square then Z.sqrt c else c).
End NoiseTop.

(* Randomised response: the truth with probability 1/(1 + e^-epsilon). *)
Section Response.
Variable p : positive.

Definition truth (eps : R) : R := / (1 + exp (- eps)).
Definition lie (eps : R) : R := / (1 + exp eps).
Definition response (eps : R) : list (R * R) := [(truth eps, lie eps); (lie eps, truth eps)].

Lemma truth_lie eps : truth eps + lie eps = 1.
Proof.
  unfold truth, lie. rewrite exp_Ropp. pose proof (exp_pos eps). field. split; nra.
Qed.
Lemma truth_pos eps : 0 < truth eps.
Proof. apply Rinv_0_lt_compat. pose proof (exp_pos (- eps)). lra. Qed.
Lemma lie_pos eps : 0 < lie eps.
Proof. apply Rinv_0_lt_compat. pose proof (exp_pos eps). lra. Qed.

(* The ratio of truth and lie is e^epsilon. *)
Lemma truth_is_exp_lie eps : truth eps = exp eps * lie eps.
Proof. unfold truth, lie. rewrite exp_Ropp. pose proof (exp_pos eps). field. split; nra. Qed.

Definition lie_ends (e : ends) : ends := over p (whole p 1) (plus (whole p 1) (exponential p e)).
Definition truth_ends (e : ends) : ends := lie_ends (minus (whole p 0) e).
Definition response_ends (e : ends) : list (ends * ends) :=
  let t := truth_ends e in let l := lie_ends e in [(t, l); (l, t)].

Lemma lie_ends_holds e eps : holds p e eps -> holds p (lie_ends e) (lie eps).
Proof.
  intro H. unfold lie. replace (/ (1 + exp eps)) with (1 / (1 + exp eps)) by (unfold Rdiv; ring).
  apply over_holds; [apply (whole_holds p 1)|]. apply plus_holds; [apply (whole_holds p 1) | now apply exponential_holds].
Qed.
Lemma truth_ends_holds e eps : holds p e eps -> holds p (truth_ends e) (truth eps).
Proof.
  intro H. replace (truth eps) with (lie (0 - eps)) by (unfold truth, lie, Rminus; now rewrite Rplus_0_l).
  apply lie_ends_holds, minus_holds; [apply (whole_holds p 0) | exact H].
Qed.

Lemma response_ends_holds e eps : holds p e eps ->
  Forall2 (fun u c => holds p (fst u) (fst c) /\ holds p (snd u) (snd c)) (response_ends e) (response eps).
Proof.
  intro H. pose proof (truth_ends_holds e eps H). pose proof (lie_ends_holds e eps H).
  unfold response_ends, response. constructor; [now split|]. constructor; [now split | constructor].
Qed.

Definition response_top (e : ends) : top := finite_top p (response_ends e).

Theorem tops_response e eps : holds p e eps -> tops p (response_top e) (finite_pair (response eps)).
Proof. intro H. now apply tops_finite, response_ends_holds. Qed.
End Response.

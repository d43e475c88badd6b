(* Numbered statements of the papers, as theorems about the definitions of checker/rocq. *)
From Coq Require Import Reals Lra Lia List Permutation ZArith.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Finite Basic Fixed Exponential Above Tops Noise NoiseTop Promise Renyi Moments Line Moves Normal NormalSum Laplace TradeOff NormalBelow.
Open Scope R_scope.

(* ALP, Lemma 2.2; SVA, Theorem 18. A randomised mapping reports an event with a chance k(o) for each outcome o. *)
Theorem randomized_mapping {O} eps delta (P Q : law O) k :
  (forall S, measurable P (indicator S)) -> (forall S, measurable Q (indicator S)) ->
  dp eps delta P Q -> test P k -> test Q k -> mean P k <= exp eps * mean Q k + delta.
Proof. exact (events_decide eps delta P Q k). Qed.

(* ALP, Lemma 2.3; SVA, Theorem 17. The second law may depend on the outcome of the first. *)
Theorem two_releases e1 d1 e2 d2 C1 C2 s f : 0 <= e1 -> 0 <= d1 -> 0 <= e2 -> 0 <= d2 ->
  spends_at_most (e1, d1) C1 -> spends_at_most (e2, d2) C2 -> spends [C1; C2] s -> decision s f ->
  mean_first s f <= exp (e1 + e2) * mean_second s f + (d1 + d2).
Proof.
  intros. pose proof (basic_composition [(e1, d1); (e2, d2)] [C1; C2]) as B. simpl in B.
  replace (e1 + e2) with (e1 + (e2 + 0)) by ring. replace (d1 + d2) with (d1 + (d2 + 0)) by ring.
  apply B; auto; repeat constructor; simpl; auto.
Qed.

(* Pure releases of which each costs eps times a length: their lengths add up. *)
Lemma lengths_add_up eps ds Cs s f : 0 <= eps -> Forall (fun d => 0 <= d) ds ->
  Forall2 (fun d C => spends_at_most (eps * d, 0) C) ds Cs -> spends Cs s -> decision s f ->
  mean_first s f <= exp (eps * sum (fun d => d) ds) * mean_second s f.
Proof.
  intros He Hd HC Hs Hf.
  pose proof (basic_composition (map (fun d => (eps * d, 0)) ds) Cs) as B.
  assert (sum fst (map (fun d => (eps * d, 0)) ds) = eps * sum (fun d => d) ds) as E1 by (clear; induction ds; simpl; [ring | rewrite IHds; ring]).
  assert (sum snd (map (fun d => (eps * d, 0)) ds) = 0) as E2 by (clear; induction ds; simpl; [ring | rewrite IHds; ring]).
  rewrite E1, E2 in B. rewrite <- (Rplus_0_r (exp _ * _)). apply B; auto.
  - clear - He Hd. induction Hd; simpl; constructor; auto. simpl. split; [now apply Rmult_le_pos | lra].
  - clear - HC. induction HC; simpl; constructor; auto.
Qed.

(* BV, Theorem 5.1. Independent counts of any number of bins, of which two lose half of eps and all others nothing. *)
Theorem histogram_of_counts eps n C1 C2 Ds s f : 0 <= eps -> length Ds = n ->
  spends_at_most (eps / 2, 0) C1 -> spends_at_most (eps / 2, 0) C2 -> Forall (spends_at_most (0, 0)) Ds ->
  spends (C1 :: C2 :: Ds) s -> decision s f -> mean_first s f <= exp eps * mean_second s f.
Proof.
  intros He Hn H1 H2 HD Hs Hf.
  pose proof (lengths_add_up eps (/ 2 :: / 2 :: repeat 0 n) (C1 :: C2 :: Ds) s f) as B.
  assert (eps * sum (fun d => d) (/ 2 :: / 2 :: repeat 0 n) = eps) as E.
  { assert (sum (fun d => d) (repeat 0 n) = 0) as Z by (clear; induction n; simpl; [ring | rewrite IHn; ring]). simpl. rewrite Z. field. }
  rewrite E in B. apply B; auto.
  - constructor; [lra|]. constructor; [lra|]. apply Forall_forall. intros x Hx. apply repeat_spec in Hx. lra.
  - constructor; [exact H1|]. constructor; [exact H2|]. clear - HD Hn. revert n Hn. induction HD as [|D Ds H _ IH]; intros n Hn; subst; simpl; constructor.
    + now rewrite Rmult_0_r.
    + now apply IH.
Qed.

(* A law that is the same for both neighbours loses nothing. *)
Lemma equal_laws : spends_at_most (0, 0) (fun Y P Q => P = Q).
Proof. intros Y P Q E f _ _. subst. simpl. rewrite exp_0. lra. Qed.

(* ALP, Lemma 5.3: a release for e1 and one for e2. *)
Theorem threshold_and_sketch e1 e2 C1 C2 s f : 0 <= e1 -> 0 <= e2 ->
  spends_at_most (e1, 0) C1 -> spends_at_most (e2, 0) C2 -> spends [C1; C2] s -> decision s f ->
  mean_first s f <= exp (e1 + e2) * mean_second s f.
Proof.
  intros P1 P2 H1 H2 Hs Hf. pose proof (two_releases e1 0 e2 0 C1 C2 s f P1 (Rle_refl 0) P2 (Rle_refl 0) H1 H2 Hs Hf). lra.
Qed.

(* ALP, Lemma 5.1: Laplace noise of scale 1/eps on every entry, for vectors whose entries are at distances ds. *)
Theorem laplace_on_entries eps ds s f : 0 < eps -> Forall (fun d => 0 <= d) ds ->
  spends (map (fun d => moved_laplace (/ eps) d) ds) s -> decision s f ->
  mean_first s f <= exp (eps * sum (fun d => d) ds) * mean_second s f.
Proof.
  intros He Hd. apply lengths_add_up; [lra | exact Hd |]. clear - He Hd. induction Hd as [|d ds H _ IH]; simpl; constructor; auto.
  intros Y P Q HC g Pg Qg. assert (0 < / eps) as Hs by now apply Rinv_0_lt_compat.
  assert (0 <= eps * d) as Hm by (apply Rmult_le_pos; lra).
  pose proof (laplace_noise_approximate (eps * d) (/ eps) Hm Hs Y P Q) as L.
  replace (eps * d * / eps) with d in L by (field; lra). exact (proj1 (L HC g Pg Qg)).
Qed.

(* ALP, Lemma 8.1: a maximum over a row changes by at most the sum of the changes in the row. *)
Lemma maximum_moves xs : forall ys, length xs = length ys ->
  Rabs (fold_right Rmax 0 xs - fold_right Rmax 0 ys) <= sum (fun p => Rabs (fst p - snd p)) (combine xs ys).
Proof.
  induction xs as [|x xs IH]; intros [|y ys] H; simpl in *; try discriminate.
  - rewrite Rminus_0_r, Rabs_R0. lra.
  - specialize (IH ys ltac:(lia)). set (u := fold_right Rmax 0 xs) in *. set (v := fold_right Rmax 0 ys) in *. set (t := sum _ _) in *.
    unfold Rmax. unfold Rabs in *. repeat destruct Rle_dec; repeat destruct Rcase_abs; lra.
Qed.

(* CSH, Lemma 7.4: independent discrete Gaussian noise, with rates 1/(2 sigma_i^2) and moves s_i. *)
Theorem discrete_gaussian_queries rho a (moves : list (R * Z)) (Cs : list class) (s : session) : 1 < a ->
  Forall2 (fun (m : R * Z) (C : class) => exists H : 0 < fst m, forall Y P Q, C Y P Q -> moved true (fst m) H (snd m) Y P Q) moves Cs ->
  sum (fun m => fst m * IZR (snd m * snd m)) moves <= rho -> spends Cs s -> session_moment a ((a - 1) * (a * rho)) s.
Proof.
  intros Ha HC Hr Hs h Hh Hp.
  pose proof (moments_add_up a (map (fun m => (a - 1) * (a * (fst m * IZR (snd m * snd m)))) moves) Cs Ha) as M.
  assert (Forall (fun m => 0 <= m) (map (fun m => (a - 1) * (a * (fst m * IZR (snd m * snd m)))) moves)) as M0.
  { clear - Ha HC. induction HC as [|m C ms Cs' [H _] _ IH]; simpl; constructor; auto.
    assert (0 <= IZR (snd m * snd m)) by (apply IZR_le; nia). repeat apply Rmult_le_pos; lra. }
  assert (Forall2 (moment_class a) (map (fun m => (a - 1) * (a * (fst m * IZR (snd m * snd m)))) moves) Cs) as MC.
  { clear - Ha HC. induction HC as [|m C ms Cs' [H HM] _ IH]; simpl; constructor; auto.
    intros Y P Q HY. apply (gaussian_moment (fst m) H a Ha (snd m) Y P Q). now apply HM. }
  specialize (M M0 MC s Hs h Hh Hp).
  assert (sum (fun m => m) (map (fun m => (a - 1) * (a * (fst m * IZR (snd m * snd m)))) moves) = (a - 1) * (a * sum (fun m => fst m * IZR (snd m * snd m)) moves)) as E
    by (clear; induction moves; simpl; [ring | rewrite IHmoves; ring]).
  rewrite E in M. eapply Rle_trans; [exact M|]. apply Rmult_le_compat_r; [apply pw_nonneg|]. apply exp_le.
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; lra.
Qed.

(* CSH, Lemma 7.3: rho-zCDP implies (rho + 2 sqrt (rho log (1/delta)), delta)-DP; rho = r^2 and log (1/delta) = l^2. *)
Theorem zcdp_conversion r l Y (P Q : law Y) f : 0 < r -> 0 < l -> zcdp (r * r) Y P Q -> test P f -> test Q f ->
  mean P f <= exp (r * r + 2 * (r * l)) * mean Q f + exp (- (l * l)).
Proof.
  intros Hr Hl HZ Pf Qf. assert (0 < l / r) as Hq by (apply Rmult_lt_0_compat; [lra | now apply Rinv_0_lt_compat]).
  set (a := 1 + l / r). assert (1 < a) as Ha by (unfold a; lra). pose proof (b_bounds a Ha) as [B0 B1].
  destruct (HZ a Ha) as [M _]. destruct (M f Pf Qf) as [[T1 T2] U]. set (k := (a - 1) * (a * (r * r))) in *.
  set (eps := r * r + 2 * (r * l)).
  assert (mean P f <= mean P (fun o => pw (b a) (f o))) as L.
  { apply mean_le; [apply Pf | exact T1 |]. intro o. destruct Pf as [_ Hf]. specialize (Hf o). unfold pw.
    destruct (Rlt_dec 0 (f o)); [|lra]. rewrite <- (exp_ln (f o)) at 1 by assumption. apply exp_le.
    assert (ln (f o) <= 0) by (rewrite <- ln_1; destruct (Rle_lt_or_eq_dec (f o) 1 (proj2 Hf)) as [?|E]; [left; now apply ln_increasing | rewrite E; lra]). nra. }
  pose proof (delta_from_renyi a Ha k eps (mean P f) (mean Q f) (proj1 (mean_bounds Q f Qf)) (Rle_trans _ _ _ L U)) as D.
  enough (delta_of a k eps <= exp (- (l * l))) by lra. unfold delta_of.
  assert (k - (a - 1) * eps = - (l * l)) as E by (unfold k, a, eps; field; lra).
  rewrite E. assert (ln (b a) < 0) as N by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (exp (- (l * l) + (a - 1) * ln (b a)) <= exp (- (l * l))) as F by (apply exp_le; nra).
  pose proof (exp_pos (- (l * l) + (a - 1) * ln (b a))) as X. apply Rle_trans with (exp (- (l * l) + (a - 1) * ln (b a))); [|exact F].
  unfold Rdiv. rewrite <- (Rmult_1_r (exp _)) at 2. apply Rmult_le_compat_l; [lra|]. rewrite <- Rinv_1. left. apply Rinv_lt_contravar; lra.
Qed.

Lemma curve_at mu eps : 0 < mu ->
  gauss_curve mu (exp eps) = Moves.tail gauss (eps / mu - mu / 2) - exp eps * Moves.tail gauss (eps / mu + mu / 2).
Proof.
  intro Hm. unfold gauss_curve. rewrite ln_exp. replace (eps / mu + mu / 2 - mu) with (eps / mu - mu / 2) by lra. reflexivity.
Qed.

(* CSH, Lemma 2.5: noise on any number of coordinates, with moves mu_i sigma_i; root_of l is the distance in units of the noise. No
   event shows more than this delta, and one shows as much. *)
Theorem gaussian_curve l eps : positive_runs l -> l <> [] ->
  let mu := root_of l in
  let delta := Moves.tail gauss (eps / mu - mu / 2) - exp eps * Moves.tail gauss (eps / mu + mu / 2) in
  (forall s Cs f, Forall2 within l Cs -> spends Cs s -> decision s f -> mean_first s f <= exp eps * mean_second s f + delta)
  /\ exists f, decision (gauss_session l) f /\ mean_first (gauss_session l) f = exp eps * mean_second (gauss_session l) f + delta.
Proof.
  intros HP Hl. cbv zeta. rewrite <- (curve_at (root_of l) eps (root_of_pos l HP Hl)). split.
  - intros s Cs f HC Hs Hf. pose proof (gaussian_sessions s l Cs HC Hl Hs f Hf (exp eps) (exp_pos eps)) as G.
    change (sqrt (squares l)) with (root_of l) in G. lra.
  - destruct (gaussian_sessions_attain l HP Hl (exp eps) (exp_pos eps)) as [f [D F]]. exists f. split; [exact D | lra].
Qed.

(* BV, Theorem 6.1: what is computed from the counts. *)
Theorem heavy_counts {T O} eps (g : O -> T) (P Q : law O) : dp eps 0 P Q -> dp eps 0 (image g P) (image g Q).
Proof. apply post_processing. Qed.

(* SVA, Lemma 21: Markov's inequality for errors that need a distance w of at least 1/2. *)
Theorem decoding_error {O} (P : law O) (w : O -> R) wrong eta bound : 0 < eta ->
  measurable P (indicator wrong) -> measurable P w -> (forall o, 0 <= w o) -> (forall o, wrong o = true -> eta / 2 <= w o) ->
  mean P w <= bound -> prob P wrong <= 2 / eta * bound.
Proof.
  intros He Hm Hw H0 H B. unfold prob. assert (0 < 2 / eta) as H2 by (apply Rmult_lt_0_compat; [lra | now apply Rinv_0_lt_compat]).
  apply Rle_trans with (mean P (fun o => 2 / eta * w o)).
  - apply mean_le; [exact Hm | now apply measurable_scale |]. intro o. unfold indicator. specialize (H0 o). specialize (H o).
    destruct (wrong o); [|apply Rmult_le_pos; lra]. specialize (H eq_refl). apply Rmult_le_reg_l with (eta / 2); [lra|].
    replace (eta / 2 * (2 / eta * w o)) with (w o) by (field; lra). lra.
  - rewrite mean_scale by exact Hw. apply Rmult_le_compat_l; lra.
Qed.

(* SVA, Lemma 23, for the probabilities of any event: a and b of two inputs, u of a uniform one. *)
Theorem degraded_channel eps eta delta a b u : 0 <= eps -> 0 <= eta <= 1 ->
  a <= exp eps * b + delta -> a <= exp eps * u + delta ->
  eta * a + (1 - eta) * u <= (1 + eta * (exp eps - 1)) * (eta * b + (1 - eta) * u) + eta * delta.
Proof.
  intros He [H0 H1] Hb Hu. assert (1 <= exp eps) as Hr by (rewrite <- exp_0; now apply exp_le). set (r := exp eps) in *.
  assert (0 <= (r - 1) * (1 - eta)) as W1 by (apply Rmult_le_pos; lra). assert (0 < 1 + eta * (r - 1)) as W2 by nra.
  assert (r * a <= r * ((r - 1) * (1 - eta) * u + (1 + eta * (r - 1)) * b + delta)) as H.
  { assert ((r - 1) * (1 - eta) * a <= (r - 1) * (1 - eta) * (r * u + delta)) by (apply Rmult_le_compat_l; lra).
    assert ((1 + eta * (r - 1)) * a <= (1 + eta * (r - 1)) * (r * b + delta)) by (apply Rmult_le_compat_l; lra). nra. }
  apply Rmult_le_reg_l in H; [|lra]. nra.
Qed.

(* ALP, Lemma 7.1: a change by 1 concerns one bit, whose report is a randomised response; all others have one law. *)
Theorem one_bit_changes eps n Ds s f : 0 <= eps -> length Ds = n ->
  Forall (spends_at_most (0, 0)) Ds -> spends (finite_pair (response eps) :: Ds) s -> decision s f ->
  mean_first s f <= exp eps * mean_second s f.
Proof.
  intros He Hn HD Hs Hf. pose proof (lengths_add_up eps (1 :: repeat 0 n) (finite_pair (response eps) :: Ds) s f) as B.
  assert (sum (fun d => d) (1 :: repeat 0 n) = 1) as E by (simpl; assert (sum (fun d => d) (repeat 0 n) = 0) as Z by (clear; induction n; simpl; [ring | rewrite IHn; ring]); lra).
  rewrite E, Rmult_1_r in B. apply B; auto.
  - constructor; [lra|]. apply Forall_forall. intros x Hx. apply repeat_spec in Hx. lra.
  - constructor.
    + rewrite Rmult_1_r. intros Y P Q HC g Pg Qg. exact (proj1 (response_approximate eps He Y P Q HC g Pg Qg)).
    + clear - HD Hn. revert n Hn. induction HD as [|D Ds H _ IH]; intros n Hn; subst; simpl; constructor; [now rewrite Rmult_0_r | now apply IH].
Qed.

(* ALP, Lemma 8.1: Laplace noise on the maxima of rows, of which each is of all entries in the row. *)
Theorem noisy_maxima eps (rows : list (list R * list R)) s f : 0 < eps -> Forall (fun r => length (fst r) = length (snd r)) rows ->
  spends (map (fun r => moved_laplace (/ eps) (Rabs (fold_right Rmax 0 (fst r) - fold_right Rmax 0 (snd r)))) rows) s -> decision s f ->
  0 <= mean_second s f ->
  mean_first s f <= exp (eps * sum (fun r => sum (fun p => Rabs (fst p - snd p)) (combine (fst r) (snd r))) rows) * mean_second s f.
Proof.
  intros He Hl Hs Hf H0.
  pose proof (laplace_on_entries eps (map (fun r => Rabs (fold_right Rmax 0 (fst r) - fold_right Rmax 0 (snd r))) rows) s f He) as B.
  rewrite map_map in B. assert (Forall (fun d => 0 <= d) (map (fun r => Rabs (fold_right Rmax 0 (fst r) - fold_right Rmax 0 (snd r))) rows)) as D.
  { apply Forall_forall. intros d Hd. apply in_map_iff in Hd. destruct Hd as [r [<- _]]. apply Rabs_pos. }
  specialize (B D Hs Hf). eapply Rle_trans; [exact B|]. apply Rmult_le_compat_r; [exact H0|]. apply exp_le. apply Rmult_le_compat_l; [lra|].
  clear - Hl. induction Hl as [|r rs H _ IH]; simpl; [lra|]. pose proof (maximum_moves (fst r) (snd r) H). lra.
Qed.

(* CSH, Lemma 7.6, and Lemma 3.2 with the shares of its proof. One noise is shared by j counters with noise of their own: given the
   shared noise z, one counter stays below the threshold with probability F z, which falls with z, and all j with F z ^ j. *)
Theorem some_sum_passes (P : law R) (F : R -> R) j s : (forall x y, x <= y -> F y <= F x) -> (forall x, 0 <= F x) ->
  measurable P (fun z => F z ^ j) -> measurable P (indicator (fun z => if Rle_dec z s then true else false)) ->
  1 - mean P (fun z => F z ^ j) <= 1 - prob P (fun z => if Rle_dec z s then true else false) * F s ^ j.
Proof.
  intros HF H0 M1 M2. unfold prob. enough (F s ^ j * mean P (indicator (fun z => if Rle_dec z s then true else false)) <= mean P (fun z => F z ^ j)) by lra.
  rewrite <- mean_scale by exact M2. apply mean_le; [now apply measurable_scale | exact M1 |]. intro z. unfold indicator.
  pose proof (pow_le (F s) j (H0 s)). pose proof (pow_le (F z) j (H0 z)). destruct (Rle_dec z s) as [L|L]; [|lra].
  rewrite Rmult_1_r. apply pow_incr. split; [apply H0 | now apply HF].
Qed.

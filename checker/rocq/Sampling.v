(* Poisson sampling: every user takes part with probability r, independently. *)
From Coq Require Import Reals Lra List FunctionalExtensionality.
Import ListNotations.
From DP Require Import Law Profile Compose.
Open Scope R_scope.

Record probability := Probability { value :> R; value_bounds : 0 <= value <= 1 }.

Definition mixture {O} (r : probability) (P Q : law O) : law O.
Proof.
  destruct r as [r Hr].
  refine (Law (fun f => measurable P f /\ measurable Q f) (fun f => r * mean P f + (1 - r) * mean Q f) _ _ _ _ _ _ _ _).
  - intro c. split; apply measurable_const.
  - intros f g [F1 F2] [G1 G2]. split; now apply measurable_plus.
  - intros c f [F1 F2]. split; now apply measurable_scale.
  - intros f g [F1 F2] [G1 G2]. split; now apply measurable_max.
  - intro c. rewrite !mean_const. lra.
  - intros f g [F1 F2] [G1 G2]. rewrite !mean_plus by assumption. lra.
  - intros c f [F1 F2]. rewrite !mean_scale by assumption. lra.
  - intros f g [F1 F2] [G1 G2] H. pose proof (mean_le P f g F1 G1 H). pose proof (mean_le Q f g F2 G2 H). nra.
Defined.

Lemma mixture_mean {O} (r : probability) (P Q : law O) f : mean (mixture r P Q) f = r * mean P f + (1 - r) * mean Q f.
Proof. now destruct r. Qed.
Lemma mixture_test {O} (r : probability) (P Q : law O) f : test (mixture r P Q) f -> test P f /\ test Q f.
Proof. destruct r. intros [[H1 H2] H]. split; split; assumption. Qed.

(* What does not depend on the user is random as well: both neighbours draw the same. *)
Inductive mixed (C : class) : class :=
| mixed_one Y P Q : C Y P Q -> mixed C Y P Q
| mixed_two Y r P1 Q1 P2 Q2 : mixed C Y P1 Q1 -> mixed C Y P2 Q2 ->
    mixed C Y (mixture r P1 P2) (mixture r Q1 Q2).

(* The user takes part with probability r; P is the law with this user, Q without. *)
Inductive sampled (r : probability) (C : class) : class :=
| is_sampled Y P Q : mixed C Y P Q -> sampled r C Y (mixture r P Q) Q.

(* A mechanism that runs on the users who take part. *)
Fixpoint on_sample {U O} (r : probability) (M : list U -> law O) (users : list U) : law O :=
  match users with
  | [] => M []
  | u :: rest => mixture r (on_sample r (fun S => M (u :: S)) rest) (on_sample r M rest)
  end.

Theorem sampling_is_sampled {U O} r (C : class) (M : list U -> law O) u users :
  (forall S, C O (M (u :: S)) (M S)) ->
  sampled r C O (on_sample r M (u :: users)) (on_sample r M users).
Proof.
  intro H. simpl. apply is_sampled.
  assert (forall users (N K : list U -> law O), (forall S, C O (N S) (K S)) -> mixed C O (on_sample r N users) (on_sample r K users)) as G.
  { clear. induction users as [|w users IH]; intros N K H; simpl; [now apply mixed_one|]. apply mixed_two; apply IH; intro S; apply H. }
  now apply G.
Qed.

(* A bound of all tests at one x survives mixing. *)
Lemma mixed_bound (C : class) x t : (forall Y P Q, C Y P Q -> forall f, test P f -> test Q f -> mean P f - x * mean Q f <= t) ->
  forall Y P Q, mixed C Y P Q -> forall f, test P f -> test Q f -> mean P f - x * mean Q f <= t.
Proof.
  intros H Y P Q HC. induction HC as [Y P Q HC|Y r P1 Q1 P2 Q2 _ IH1 _ IH2]; intros f Pf Qf; [now apply (H Y)|].
  destruct (mixture_test _ _ _ _ Pf) as [A1 A2]. destruct (mixture_test _ _ _ _ Qf) as [B1 B2]. rewrite !mixture_mean.
  specialize (IH1 f A1 B1). specialize (IH2 f A2 B2). destruct r as [r Hr]. simpl in *. nra.
Qed.

(* The curve of a sampled pair is r G(u) with u = (x - 1 + r)/r, and 1 - x where u < 0. *)
Theorem sampled_bound (r : probability) (C : class) x u t : x = 1 - r + r * u -> 0 <= u ->
  (forall Y P Q, C Y P Q -> forall f, test P f -> test Q f -> mean P f - u * mean Q f <= t) ->
  forall Y P Q, sampled r C Y P Q -> forall f, test P f -> test Q f -> mean P f - x * mean Q f <= r * t.
Proof.
  intros Hx Hu H Y P Q HC f Pf Qf. destruct HC as [Y P Q HC]. destruct (mixture_test _ _ _ _ Pf) as [A1 _].
  pose proof (mixed_bound C u t H Y P Q HC f A1 Qf). rewrite mixture_mean. destruct r as [r Hr]. simpl in *. nra.
Qed.

Theorem sampled_trivial (r : probability) (C : class) x u : x = 1 - r + r * u ->
  forall Y P Q, sampled r C Y P Q -> forall f, test P f -> test Q f ->
  mean P f - x * mean Q f <= 1 - x + Rmax 0 u.
Proof.
  intros Hx Y P Q HC f Pf Qf. destruct HC as [Y P Q HC]. destruct (mixture_test _ _ _ _ Pf) as [A1 _].
  pose proof (mean_bounds P f A1). pose proof (mean_bounds Q f Qf). rewrite mixture_mean. destruct r as [r Hr]. simpl in *.
  set (a := mean P f) in *. set (b := mean Q f) in *. subst x.
  replace (r * a + (1 - r) * b - (1 - r + r * u) * b) with (r * (a - u * b)) by ring.
  replace (1 - (1 - r + r * u)) with (r * (1 - u)) by ring.
  unfold Rmax. destruct (Rle_dec 0 u).
  - assert (a - u * b <= 1) by nra. apply Rle_trans with (r * 1); nra.
  - assert (a - u * b <= 1 - u) by nra. rewrite Rplus_0_r. apply Rmult_le_compat_l; lra.
Qed.

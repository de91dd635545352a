(* The perceptron and its theorems, over the real numbers, in any space with an inner product.

   A visit shows z = y x (or x in the block of its class and -x in that of a rival, or phi(x, y) - phi(x, r), or any
   other vector on whose side w should be). A mistake is a visit with w . z <= 0, and its update is w + z. Sample
   weights and steps are part of z. *)
Require Import Reals List Lra Psatz Bool.
From Novikoff Require Import Sums Space.
Import ListNotations.
Open Scope R_scope.

Section Perceptron.
Variable V : space.

(* A run is described by the vectors with which w was updated, in their order. `mistaken` says that each was a mistake
   when it came; for weights that were rounded, w . z <= e instead of 0. *)
Fixpoint mistaken (e : R) (w : V) (zs : list V) : Prop :=
  match zs with
  | [] => True
  | z :: rest => dot w z <= e /\ mistaken e (add w z) rest
  end.

Fixpoint after (w : V) (zs : list V) : V :=
  match zs with [] => w | z :: rest => after (add w z) rest end.

(* |w|^2 grows by at most R^2 + 2e per update... *)
Lemma square_grows : forall e RR zs w,
  mistaken e w zs -> (forall z, In z zs -> dot z z <= RR) ->
  dot (after w zs) (after w zs) <= dot w w + INR (length zs) * (RR + 2 * e).
Proof.
  intros e RR; induction zs as [|z zs IH]; intros w M B; [simpl; lra|].
  destruct M as [Mz M]. specialize (IH (add w z) M (fun q Hq => B q (or_intror Hq))).
  cbn [after length]. rewrite S_INR. rewrite square_of_sum in IH.
  assert (dot z z <= RR) by (apply B; left; reflexivity). lra.
Qed.

(* ...while w . u is the sum of the z . u. *)
Lemma dot_grows : forall u zs w, dot u (after w zs) = dot u w + sum (map (dot u) zs).
Proof.
  intros u; induction zs as [|z zs IH]; intros w; simpl; [ring|].
  rewrite IH, dot_add_r. ring.
Qed.

(* How far z falls short of the margin g. *)
Definition hinge (u : V) (g : R) (z : V) : R := Rmax 0 (g - dot u z).

Lemma sum_of_margins : forall u g zs,
  INR (length zs) * g - sum (map (hinge u g) zs) <= sum (map (dot u) zs).
Proof.
  intros u g; induction zs as [|z zs IH]; [simpl; lra|].
  cbn [length map sum fold_right]. rewrite S_INR. unfold sum in *.
  pose proof (Rmax_r 0 (g - dot u z)). unfold hinge in *. simpl. lra.
Qed.

(* Freund and Schapire's bound: k mistakes on one pass over any sequence, for any u of length 1 and any g > 0; D^2 is
   the sum of the squared shortfalls of the z that were mistaken, and so at most that of all visits. *)
Theorem freund_schapire : forall zs u g RR D,
  mistaken 0 zero zs -> (forall z, In z zs -> dot z z <= RR) -> 0 <= RR ->
  dot u u = 1 -> 0 < g -> 0 <= D ->
  sum (map (fun z => hinge u g z * hinge u g z) zs) <= D * D ->
  INR (length zs) * (g * g) <= (sqrt RR + D) * (sqrt RR + D).
Proof.
  intros zs u g RR D M B HR Hu Hg HD HS.
  set (k := INR (length zs)).
  assert (K : 0 <= k) by (apply pos_INR).
  pose proof (square_grows 0 RR zs zero M B) as SQ. rewrite dot_zero in SQ. fold k in SQ.
  pose proof (dot_grows u zs zero) as DG. rewrite dot_zero in DG.
  pose proof (sum_of_margins u g zs) as SM. fold k in SM.
  pose proof (sum_square (map (hinge u g) zs)) as CS. rewrite map_length, map_map in CS. fold k in CS.
  set (S := sum (map (hinge u g) zs)) in *.
  assert (S0 : 0 <= S).
  { unfold S. clear. induction zs as [|z zs IH]; simpl; [lra|].
    pose proof (Rmax_l 0 (g - dot u z)). unfold hinge in *. lra. }
  pose proof (dot_le_norms u (after zero zs)) as C.
  assert (U : norm u = 1) by (unfold norm; rewrite Hu; apply sqrt_1).
  rewrite U, Rmult_1_l, DG in C.
  set (s := sqrt k). assert (Hs : s * s = k) by (apply sqrt_sqrt; assumption).
  assert (s0 : 0 <= s) by apply sqrt_pos.
  set (r := sqrt RR). assert (Hr : r * r = RR) by (apply sqrt_sqrt; assumption).
  assert (r0 : 0 <= r) by apply sqrt_pos.
  assert (N : norm (after zero zs) <= s * r).
  { apply Rsqr_incr_0_var; [|nra]. unfold Rsqr. rewrite norm_square. nra. }
  assert (SD : S <= s * D).
  { apply Rsqr_incr_0_var; [|nra]. unfold Rsqr.
    apply Rle_trans with (k * (D * D)); [|rewrite <- Hs; nra].
    eapply Rle_trans; [exact CS|]. apply Rmult_le_compat_l; assumption. }
  assert (E : s * (s * g) <= s * (r + D)) by nra.
  destruct (Req_dec s 0) as [Z|NZ].
  - rewrite <- Hs, Z. nra.
  - assert (s * g <= r + D) by (apply Rmult_le_reg_l with s; lra).
    rewrite <- Hs. replace (s * s * (g * g)) with ((s * g) * (s * g)) by ring.
    apply Rmult_le_compat; nra.
Qed.

(* Novikoff's and Block's theorem, of weights that may have been rounded: k g^2 <= R^2 + 2e. *)
Theorem novikoff_rounded : forall zs u g RR e,
  mistaken e zero zs -> (forall z, In z zs -> dot z z <= RR) ->
  dot u u = 1 -> 0 <= g -> (forall z, In z zs -> g <= dot u z) -> zs <> [] ->
  INR (length zs) * (g * g) <= RR + 2 * e.
Proof.
  intros zs u g RR e M B Hu Hg Hm N.
  set (k := INR (length zs)).
  assert (K : 0 < k) by (unfold k; apply lt_0_INR; destruct zs; [congruence|simpl; apply Nat.lt_0_succ]).
  pose proof (square_grows e RR zs zero M B) as SQ. rewrite dot_zero in SQ. fold k in SQ.
  pose proof (dot_grows u zs zero) as DG. rewrite dot_zero in DG.
  assert (SM : k * g <= sum (map (dot u) zs)).
  { unfold k. clear - Hm. induction zs as [|z zs IH]; [simpl; lra|].
    cbn [length map sum fold_right]. rewrite S_INR.
    assert (g <= dot u z) by (apply Hm; left; reflexivity).
    specialize (IH (fun q Hq => Hm q (or_intror Hq))). unfold sum in IH. lra. }
  pose proof (cauchy_schwarz u (after zero zs)) as C. rewrite Hu, DG in C.
  set (S := sum (map (dot u) zs)) in *.
  assert (0 <= k * g) by nra.
  assert ((k * g) * (k * g) <= k * (RR + 2 * e)) by nra.
  apply Rmult_le_reg_l with k; [assumption|]. nra.
Qed.

Corollary novikoff : forall zs u g RR,
  mistaken 0 zero zs -> (forall z, In z zs -> dot z z <= RR) -> 0 <= RR ->
  dot u u = 1 -> 0 <= g -> (forall z, In z zs -> g <= dot u z) ->
  INR (length zs) * (g * g) <= RR.
Proof.
  intros zs u g RR M B HR Hu Hg Hm. destruct zs as [|z zs]; [simpl; lra|].
  replace RR with (RR + 2 * 0) by ring. eapply novikoff_rounded; eauto. discriminate.
Qed.

(* The normalized rule is the perceptron on z / |z|: k g^2 <= 1, where g is the margin of the z scaled to length 1. *)
Definition unit_of (z : V) : V := scale (/ norm z) z.

Lemma unit_square : forall z, dot z z <> 0 -> dot (unit_of z) (unit_of z) = 1.
Proof.
  intros z N. unfold unit_of. rewrite dot_scale_l, dot_scale_r.
  assert (norm z <> 0) by (intro E; apply N; rewrite <- norm_square, E; ring).
  rewrite <- (norm_square z). field. assumption.
Qed.

Corollary normalized : forall zs u g,
  (forall z, In z zs -> dot z z <> 0) ->
  mistaken 0 zero (map unit_of zs) -> dot u u = 1 -> 0 <= g ->
  (forall z, In z zs -> g <= dot u (unit_of z)) ->
  INR (length zs) * (g * g) <= 1.
Proof.
  intros zs u g N M Hu Hg Hm. rewrite <- (map_length unit_of zs).
  eapply novikoff; eauto; try lra; intros v Hv; apply in_map_iff in Hv as [z [<- Hz]]; auto.
  rewrite (unit_square z (N z Hz)). lra.
Qed.

(* ...which is never worse: a margin g of z gives a margin g / R of z / |z|. *)
Lemma unit_margin : forall z u g R, 0 < norm z -> norm z <= R -> 0 <= g -> g <= dot u z -> g / R <= dot u (unit_of z).
Proof.
  intros z u g R P L G H. unfold unit_of. rewrite dot_scale_r. unfold Rdiv.
  apply Rle_trans with (g * / norm z).
  - apply Rmult_le_compat_l; [assumption|]. apply Rinv_le_contravar; assumption.
  - rewrite Rmult_comm. apply Rmult_le_compat_l; [|assumption]. left. apply Rinv_0_lt_compat. assumption.
Qed.

(* Collins's bound for structured output: any features phi, any decoder. A mistake is a visit whose decoded output is
   another one that scores at least as much as the right one. *)
Section Structured.
Variables (Input Output : Type) (phi : Input -> Output -> V).
Definition difference (m : Input * Output * Output) : V :=
  let '(x, y, z) := m in add (phi x y) (scale (-1) (phi x z)).
Lemma difference_score : forall w x y z, dot w (difference (x, y, z)) = dot w (phi x y) - dot w (phi x z).
Proof. intros. unfold difference. rewrite dot_add_r, dot_scale_r. ring. Qed.

Fixpoint preferred (w : V) (ms : list (Input * Output * Output)) : Prop :=
  match ms with
  | [] => True
  | (x, y, z) :: rest => dot w (phi x y) <= dot w (phi x z) /\ preferred (add w (difference (x, y, z))) rest
  end.

Lemma preferred_mistaken : forall ms w, preferred w ms -> mistaken 0 w (map difference ms).
Proof.
  induction ms as [|[[x y] z] ms IH]; intros w P; [exact I|].
  destruct P as [Pz P]. cbn [map mistaken]. split; [rewrite difference_score; lra|apply IH, P].
Qed.

Theorem collins : forall ms u g RR,
  preferred zero ms -> 0 <= RR ->
  (forall m, In m ms -> dot (difference m) (difference m) <= RR) ->
  dot u u = 1 -> 0 <= g ->
  (forall x y z, In (x, y, z) ms -> g <= dot u (phi x y) - dot u (phi x z)) ->
  INR (length ms) * (g * g) <= RR.
Proof.
  intros ms u g RR P HR B Hu Hg Hm. rewrite <- (map_length difference ms).
  apply novikoff with u; auto.
  - apply preferred_mistaken, P.
  - intros v Hv. apply in_map_iff in Hv as [m [<- Hin]]. auto.
  - intros v Hv. apply in_map_iff in Hv as [[[x y] z] [<- Hin]]. rewrite difference_score. auto.
Qed.
End Structured.

(* The lazy average. Visit t (from 0) adds d_t to w, which is zero where there is no update. One running sum of t * d_t
   gives the sum of the weights after each visit: T w - u. *)
Fixpoint sum_of_weights (w : V) (ds : list V) : V :=
  match ds with [] => zero | d :: rest => add (add w d) (sum_of_weights (add w d) rest) end.
Fixpoint running (t : R) (ds : list V) : V :=
  match ds with [] => zero | d :: rest => add (scale t d) (running (t + 1) rest) end.

Theorem lazy_average : forall v ds,
  dot v (sum_of_weights zero ds) = INR (length ds) * dot v (after zero ds) - dot v (running 0 ds).
Proof.
  assert (G : forall v ds w t, dot v (sum_of_weights w ds) =
    (t + INR (length ds)) * dot v (after w ds) - t * dot v w - dot v (running t ds)).
  { intros v; induction ds as [|d ds IH]; intros w t.
    - simpl. rewrite dot_zero. ring.
    - cbn [sum_of_weights after running length]. rewrite !dot_add_r, (IH (add w d) (t + 1)), S_INR.
      rewrite dot_scale_r, !dot_add_r. ring. }
  intros v ds. rewrite (G v ds zero 0), dot_zero. ring.
Qed.
End Perceptron.

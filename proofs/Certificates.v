(* What the claims of a certificate say, in the words of docs/certificates.md, and that what a checker computes proves
   them. Rows are whole numbers: the doubles of the data, all multiplied by one power of two, which is positive and so
   changes no sign; the bias is one more coordinate of every row. Weights range over all real vectors. *)
Require Import ZArith Reals List Lra Lia Psatz Bool.
From Novikoff Require Import Sums Space Vectors.
Import ListNotations.

(* ---- whole numbers ---- *)
Open Scope Z_scope.
Definition row := list Z.

Fixpoint zdot (a b : row) : Z := match a, b with x :: a', y :: b' => x * y + zdot a' b' | _, _ => 0 end.
Fixpoint zadd (a b : row) : row :=
  match a, b with [], _ => b | _, [] => a | x :: a', y :: b' => (x + y) :: zadd a' b' end.
Definition zscale (k : Z) (a : row) : row := map (Z.mul k) a.
Definition zsum (ks : list Z) : Z := fold_right Z.add 0 ks.
Definition reals (a : row) : vector := map IZR a.

Open Scope R_scope.
Lemma dot_reals : forall a b, vdot (reals a) (reals b) = IZR (zdot a b).
Proof. induction a as [|x a IH]; intros [|y b]; simpl; auto. rewrite plus_IZR, mult_IZR, <- IH. reflexivity. Qed.
Lemma reals_add : forall a b, reals (zadd a b) = vadd (reals a) (reals b).
Proof. induction a as [|x a IH]; intros [|y b]; simpl; auto. rewrite plus_IZR, IH. reflexivity. Qed.
Lemma reals_scale : forall k a, reals (zscale k a) = vscale (IZR k) (reals a).
Proof.
  intros k a. unfold reals, zscale, vscale. rewrite !map_map. apply map_ext. intro. apply mult_IZR.
Qed.
Lemma dot_zeros : forall u a, forallb (Z.eqb 0) a = true -> vdot u (reals a) = 0.
Proof.
  induction u as [|x u IH]; intros [|y a] H; try reflexivity.
  cbn [forallb] in H. apply andb_true_iff in H as [Y H]. apply Z.eqb_eq in Y. subst y.
  simpl. rewrite (IH a H). ring.
Qed.

(* ---- examples, weights, scores ----
   There is one weight vector per class. Two classes have one vector, that of class 1: class 0 has the zero vector, so
   that a score is s for class 1 and 0 for class 0, and s >= 0 predicts class 1. *)
Definition example := (row * nat)%type.
Definition weights := nat -> vector.
Definition pair := (row * nat * nat)%type.  (* a row, its class, and a rival class *)

Definition gap (W : weights) (p : pair) : R := let '(x, y, r) := p in vdot (W y) (reals x) - vdot (W r) (reals x).
Definition one_vector (W : weights) : Prop := W 0%nat = [].

(* All pairs of the data: every row with every other class. *)
Definition pairs_of (K : nat) (data : list example) : list pair :=
  flat_map (fun e => map (fun r => (fst e, snd e, r)) (filter (fun r => negb (Nat.eqb r (snd e))) (seq 0 K))) data.

Lemma in_pairs : forall K data x y r, In (x, y, r) (pairs_of K data) <-> In (x, y) data /\ r <> y /\ (r < K)%nat.
Proof.
  intros K data x y r. unfold pairs_of. rewrite in_flat_map. split.
  - intros [[x' y'] [D H]]. apply in_map_iff in H as [r' [E H]]. simpl in E. inversion E; subst.
    apply filter_In in H as [S N]. apply in_seq in S. apply negb_true_iff, Nat.eqb_neq in N. simpl in N.
    split; [assumption|split; [assumption|lia]].
  - intros [D [N L]]. exists (x, y). split; [assumption|]. apply in_map_iff. exists r. split; [reflexivity|].
    apply filter_In. split; [apply in_seq; lia|]. apply negb_true_iff, Nat.eqb_neq. assumption.
Qed.

(* W separates the data: every row scores strictly higher for its own class than for any other. *)
Definition separates (K : nat) (W : weights) (data : list example) : Prop :=
  forall x y r, In (x, y) data -> (r < K)%nat -> r <> y -> gap W (x, y, r) > 0.
(* |W|^2: all vectors count. *)
Definition square (K : nat) (W : weights) : R := sum (map (fun k => vdot (W k) (W k)) (seq 0 K)).
Definition has_margin (K : nat) (W : weights) (g : R) (data : list example) : Prop :=
  forall x y r, In (x, y) data -> (r < K)%nat -> r <> y -> gap W (x, y, r) >= g * sqrt (square K W).

(* ---- sums of pairs: sum of a * z, where z has x in block y and -x in block r ---- *)
Definition term := (Z * pair)%type.
Open Scope Z_scope.
Fixpoint block (k : nat) (ts : list term) : row :=
  match ts with
  | [] => []
  | (a, (x, y, r)) :: rest =>
      let own := if Nat.eqb y k then zscale a x else [] in
      let other := if Nat.eqb r k then zscale (- a) x else [] in
      zadd (zadd own other) (block k rest)
  end.
Open Scope R_scope.

Definition weighted (W : weights) (ts : list term) : R := sum (map (fun t => IZR (fst t) * gap W (snd t)) ts).

Lemma sum_only : forall (f : nat -> R) y K, (y < K)%nat ->
  sum (map (fun k => if Nat.eqb y k then f k else 0) (seq 0 K)) = f y.
Proof.
  intros f y K L. assert (G : forall n s, (s <= y < s + n)%nat ->
    sum (map (fun k => if Nat.eqb y k then f k else 0) (seq s n)) = f y).
  { induction n as [|n IH]; intros s B; [lia|]. cbn [seq map sum fold_right]. unfold sum in IH.
    destruct (Nat.eqb_spec y s) as [->|N].
    - assert (Z : forall m t, (s < t)%nat -> fold_right Rplus 0 (map (fun k => if Nat.eqb s k then f k else 0) (seq t m)) = 0).
      { induction m as [|m IHm]; intros t T; [reflexivity|]. cbn [seq map fold_right].
        destruct (Nat.eqb_spec s t); [lia|]. rewrite IHm by lia. ring. }
      rewrite Z by lia. ring.
    - rewrite IH by lia. ring. }
  apply G. lia.
Qed.

(* The sum of a * gap is the inner product of W with the sum of a * z, block by block. *)
Lemma weighted_blocks : forall K W ts,
  (forall a x y r, In (a, (x, y, r)) ts -> (y < K /\ r < K)%nat) ->
  weighted W ts = sum (map (fun k => vdot (W k) (reals (block k ts))) (seq 0 K)).
Proof.
  intros K W; induction ts as [|[a [[x y] r]] ts IH]; intros B.
  - unfold weighted. simpl. symmetry.
    induction (seq 0 K) as [|k l IHl]; unfold sum in *; simpl; [reflexivity|]. rewrite IHl, vdot_nil_r. ring.
  - assert (Y : (y < K)%nat /\ (r < K)%nat) by (eapply B; left; reflexivity). destruct Y as [Y Rk].
    assert (E : weighted W ((a, (x, y, r)) :: ts) = IZR a * gap W (x, y, r) + weighted W ts) by reflexivity.
    rewrite E, IH by (intros; eapply B; right; eassumption). clear E IH.
    transitivity (sum (map (fun k => if Nat.eqb y k then IZR a * vdot (W k) (reals x) else 0) (seq 0 K))
      + sum (map (fun k => if Nat.eqb r k then - (IZR a * vdot (W k) (reals x)) else 0) (seq 0 K))
      + sum (map (fun k => vdot (W k) (reals (block k ts))) (seq 0 K))).
    + rewrite (sum_only (fun k => IZR a * vdot (W k) (reals x)) y K Y).
      rewrite (sum_only (fun k => - (IZR a * vdot (W k) (reals x))) r K Rk). unfold gap. simpl. ring.
    + rewrite <- !sum_add. f_equal. apply map_ext. intro k. cbn [block].
      rewrite !reals_add, !vdot_add_r.
      destruct (Nat.eqb y k), (Nat.eqb r k); rewrite ?reals_scale, ?vdot_scale_r, ?opp_IZR; simpl; rewrite ?vdot_nil_r; ring.
Qed.

(* ---- the claim "inseparable": Gordan's alternative, in the direction that is used ---- *)
Definition in_range (K : nat) (ts : list term) : bool :=
  forallb (fun t => let '(_, (_, y, r)) := t in Nat.ltb y K && Nat.ltb r K) ts.
Definition row_eqb (a b : row) : bool := if list_eq_dec Z.eq_dec a b then true else false.
Definition pair_in (K : nat) (data : list example) (p : pair) : bool :=
  let '(x, y, r) := p in
  Nat.ltb r K && negb (Nat.eqb r y) && existsb (fun e => Nat.eqb (snd e) y && row_eqb (fst e) x) data.

Lemma pair_in_data : forall K data x y r, pair_in K data (x, y, r) = true -> In (x, y) data /\ (r < K)%nat /\ r <> y.
Proof.
  intros K data x y r H. unfold pair_in in H. apply andb_true_iff in H as [H E]. apply andb_true_iff in H as [L N].
  apply existsb_exists in E as [[x' y'] [D Q]]. apply andb_true_iff in Q as [Q1 Q2]. apply Nat.eqb_eq in Q1.
  unfold row_eqb in Q2. simpl in *. destruct (list_eq_dec Z.eq_dec x' x); [subst|discriminate].
  repeat split; [assumption|apply Nat.ltb_lt; assumption|apply Nat.eqb_neq, negb_true_iff; assumption].
Qed.

(* With two classes only the block of class 1 counts: class 0 has no vector. *)
Definition first_block (K : nat) : nat := if Nat.eqb K 2 then 1%nat else 0%nat.
Definition legal (K : nat) (W : weights) : Prop := K = 2%nat -> one_vector W.

Definition check_inseparable (K : nat) (data : list example) (ts : list term) : bool :=
  negb (Nat.eqb (length ts) 0)
  && forallb (fun t => Z.ltb 0 (fst t) && pair_in K data (snd t)) ts
  && in_range K ts
  && forallb (fun k => forallb (Z.eqb 0) (block k ts)) (seq (first_block K) (K - first_block K)).

Lemma range_of : forall K ts, in_range K ts = true ->
  forall a x y r, In (a, (x, y, r)) ts -> (y < K /\ r < K)%nat.
Proof.
  intros K ts H a x y r I. unfold in_range in H. rewrite forallb_forall in H. specialize (H _ I). simpl in H.
  apply andb_true_iff in H as [A B]. apply Nat.ltb_lt in A, B. auto.
Qed.

Lemma blocks_from_first : forall K W (f : nat -> vector), legal K W ->
  sum (map (fun k => vdot (W k) (f k)) (seq 0 K)) =
  sum (map (fun k => vdot (W k) (f k)) (seq (first_block K) (K - first_block K))).
Proof.
  intros K W f L. unfold first_block. destruct (Nat.eqb_spec K 2) as [->|N]; [|rewrite Nat.sub_0_r; reflexivity].
  simpl. rewrite (L eq_refl). simpl. ring.
Qed.

Theorem inseparable_sound : forall K data ts, check_inseparable K data ts = true ->
  ~ exists W, legal K W /\ separates K W data.
Proof.
  intros K data ts H [W [L S]]. unfold check_inseparable in H.
  apply andb_true_iff in H as [H Zero]. apply andb_true_iff in H as [H Range]. apply andb_true_iff in H as [N P].
  apply negb_true_iff, Nat.eqb_neq in N. rewrite forallb_forall in P, Zero.
  assert (E : weighted W ts = 0).
  { rewrite (weighted_blocks K W ts (range_of K ts Range)), (blocks_from_first K W (fun k => reals (block k ts)) L).
    assert (G : forall l, (forall k, In k l -> forallb (Z.eqb 0) (block k ts) = true) ->
      sum (map (fun k => vdot (W k) (reals (block k ts))) l) = 0).
    { induction l as [|k l IH]; intros A; [reflexivity|]. cbn [map sum fold_right].
      rewrite dot_zeros by (apply A; left; reflexivity). unfold sum in IH. rewrite IH by (intros; apply A; right; assumption). ring. }
    apply G. assumption. }
  assert (G : forall l, l <> [] -> (forall t, In t l -> In t ts) -> weighted W l > 0).
  { induction l as [|[a [[x y] r]] l IH]; intros NE I; [congruence|]. unfold weighted in *. cbn [map sum fold_right].
    assert (T : In (a, (x, y, r)) ts) by (apply I; left; reflexivity).
    specialize (P _ T). apply andb_true_iff in P as [A Q]. apply Z.ltb_lt, IZR_lt in A. simpl in A.
    apply pair_in_data in Q as [D [Rk NY]]. pose proof (S x y r D Rk NY) as Sg. cbn [fst snd].
    assert (0 < IZR a * gap W (x, y, r)) by (apply Rmult_lt_0_compat; lra).
    destruct l as [|t l]; [cbn [map fold_right]; lra|].
    assert (sum (map (fun t0 => IZR (fst t0) * gap W (snd t0)) (t :: l)) > 0).
    { apply IH; [discriminate|]. intros q Hq. apply I. right. assumption. }
    unfold sum in *. lra. }
  assert (weighted W ts > 0) by (apply G; [intro Z; apply N; rewrite Z; reflexivity|auto]). lra.
Qed.

(* ---- the claim "margin at most e" (e = en / ed, in units of the whole-number rows) ---- *)
Definition zsquare_of_blocks (K : nat) (ts : list term) : Z :=
  zsum (map (fun k => zdot (block k ts) (block k ts)) (seq (first_block K) (K - first_block K))).
Definition zweight (ts : list term) : Z := zsum (map fst ts).

Definition check_at_most (K : nat) (data : list example) (ts : list term) (en ed : Z) : bool :=
  forallb (fun t => Z.leb 0 (fst t) && pair_in K data (snd t)) ts && in_range K ts
  && Z.ltb 0 (zweight ts) && Z.leb 0 en && Z.ltb 0 ed
  && Z.leb (ed * ed * zsquare_of_blocks K ts) (en * en * (zweight ts * zweight ts)).

Lemma sum_of_wholes : forall (A : Type) (f : A -> Z) l, IZR (zsum (map f l)) = sum (map (fun x => IZR (f x)) l).
Proof. intros A f; induction l as [|x l IH]; unfold zsum, sum in *; simpl; [reflexivity|]. rewrite plus_IZR, IH. reflexivity. Qed.

(* Cauchy and Schwarz for several vectors at once. *)
Lemma dots_le_norms : forall (f g : nat -> vector) from count,
  sum (map (fun k => vdot (f k) (g k)) (seq from count)) <=
  sqrt (sum (map (fun k => vdot (f k) (f k)) (seq from count))) * sqrt (sum (map (fun k => vdot (g k) (g k)) (seq from count))).
Proof. intros. exact (@dot_le_norms (families from count) f g). Qed.

Lemma square_from_first : forall K W, legal K W ->
  square K W = sum (map (fun k => vdot (W k) (W k)) (seq (first_block K) (K - first_block K))).
Proof. intros K W L. unfold square. apply (blocks_from_first K W W L). Qed.

Lemma margin_times_weight : forall K W data g ts, has_margin K W g data ->
  (forall t, In t ts -> (0 <= fst t)%Z /\ pair_in K data (snd t) = true) ->
  weighted W ts >= IZR (zweight ts) * (g * sqrt (square K W)).
Proof.
  intros K W data g ts M; induction ts as [|[a [[x y] r]] ts IH]; intros P.
  - unfold weighted, zweight, sum, zsum. simpl. lra.
  - change (IZR a * gap W (x, y, r) + weighted W ts >= IZR (a + zweight ts) * (g * sqrt (square K W))).
    rewrite plus_IZR. destruct (P (a, (x, y, r)) (or_introl eq_refl)) as [A Q]. cbn [fst snd] in A, Q.
    apply pair_in_data in Q as [D [Rk NY]]. pose proof (M x y r D Rk NY) as G. apply IZR_le in A.
    specialize (IH (fun t Ht => P t (or_intror Ht))). nra.
Qed.

Theorem at_most_sound : forall K data ts en ed, check_at_most K data ts en ed = true ->
  forall W g, legal K W -> 0 < square K W -> has_margin K W g data -> g * IZR ed <= IZR en.
Proof.
  intros K data ts en ed H W g L Q M. unfold check_at_most in H.
  repeat (apply andb_true_iff in H as [H ?]).
  match goal with [ I : in_range K ts = true |- _ ] => pose proof (range_of K ts I) as Range end.
  apply Z.leb_le in H0, H2. apply Z.ltb_lt in H1, H3. rewrite forallb_forall in H.
  assert (P : weighted W ts >= IZR (zweight ts) * (g * sqrt (square K W))).
  { eapply margin_times_weight; eauto. intros t Ht. specialize (H t Ht). apply andb_true_iff in H as [A B].
    apply Z.leb_le in A. auto. }
  rewrite (weighted_blocks K W ts Range), (blocks_from_first K W (fun k => reals (block k ts)) L) in P.
  pose proof (dots_le_norms W (fun k => reals (block k ts)) (first_block K) (K - first_block K)) as C.
  rewrite <- (square_from_first K W L) in C.
  assert (B : sum (map (fun k => vdot (reals (block k ts)) (reals (block k ts))) (seq (first_block K) (K - first_block K)))
    = IZR (zsquare_of_blocks K ts)).
  { unfold zsquare_of_blocks. rewrite sum_of_wholes. f_equal. apply map_ext. intro. apply dot_reals. }
  rewrite B in C.
  assert (B0 : 0 <= IZR (zsquare_of_blocks K ts)).
  { rewrite <- B. clear. induction (seq (first_block K) (K - first_block K)) as [|k l IH]; unfold sum in *; simpl; [lra|].
    pose proof (vdot_self (reals (block k ts))). lra. }
  set (N := sqrt (square K W)) in *. assert (N0 : 0 < N) by (apply sqrt_lt_R0; assumption).
  set (Z2 := IZR (zsquare_of_blocks K ts)) in *. pose proof (sqrt_sqrt Z2 B0) as S2. pose proof (sqrt_pos Z2) as S0.
  set (s := sqrt Z2) in *.
  apply IZR_le in H0, H2. apply IZR_lt in H1, H3. rewrite !mult_IZR in H0. fold Z2 in H0.
  set (A := IZR (zweight ts)) in *. set (E := IZR en) in *. set (D := IZR ed) in *.
  assert (G : A * g <= s).
  { apply Rmult_le_reg_r with N; [assumption|]. lra. }
  assert (T : D * s <= E * A).
  { apply Rsqr_incr_0_var; [|nra]. unfold Rsqr. rewrite <- S2 in H0.
    replace (D * s * (D * s)) with (D * D * (s * s)) by ring. replace (E * A * (E * A)) with (E * E * (A * A)) by ring. exact H0. }
  apply Rmult_le_reg_l with A; [assumption|].
  assert (A * g * D <= s * D) by (apply Rmult_le_compat_r; lra). nra.
Qed.

(* ---- the claim "separable, with margin at least g" (g = gn / gd) ---- *)
Open Scope Z_scope.
Definition zweights := nat -> row.
Definition zgap (W : zweights) (p : pair) : Z := let '(x, y, r) := p in zdot (W y) x - zdot (W r) x.
Definition zsquare (K : nat) (W : zweights) : Z := zsum (map (fun k => zdot (W k) (W k)) (seq 0 K)).
Definition check_separable (K : nat) (data : list example) (W : zweights) (gn gd : Z) : bool :=
  Z.leb 0 gn && Z.ltb 0 gd
  && (let square := zsquare K W in
      forallb (fun p => let s := zgap W p in Z.ltb 0 s && Z.leb (gn * gn * square) (gd * gd * (s * s))) (pairs_of K data)).
Open Scope R_scope.
Definition real_weights (W : zweights) : weights := fun k => reals (W k).

Lemma gap_reals : forall W p, gap (real_weights W) p = IZR (zgap W p).
Proof. intros W [[x y] r]. unfold gap, real_weights, zgap. rewrite !dot_reals, minus_IZR. reflexivity. Qed.

Theorem separable_sound : forall K data W gn gd, check_separable K data W gn gd = true ->
  separates K (real_weights W) data /\ has_margin K (real_weights W) (IZR gn / IZR gd) data.
Proof.
  intros K data W gn gd H. unfold check_separable in H. apply andb_true_iff in H as [H F]. apply andb_true_iff in H as [Hn Hd].
  apply Z.leb_le, IZR_le in Hn. apply Z.ltb_lt, IZR_lt in Hd. cbv zeta in F. rewrite forallb_forall in F.
  assert (Q : square K (real_weights W) = IZR (zsquare K W)).
  { unfold square, zsquare. rewrite sum_of_wholes. f_equal. apply map_ext. intro. apply dot_reals. }
  assert (Each : forall x y r, In (x, y) data -> (r < K)%nat -> r <> y ->
    0 < IZR (zgap W (x, y, r)) /\
    IZR gn * IZR gn * IZR (zsquare K W) <= IZR gd * IZR gd * (IZR (zgap W (x, y, r)) * IZR (zgap W (x, y, r)))).
  { intros x y r D L N. specialize (F (x, y, r) (proj2 (in_pairs K data x y r) (conj D (conj N L)))).
    apply andb_true_iff in F as [A B]. apply Z.ltb_lt, IZR_lt in A. apply Z.leb_le, IZR_le in B. rewrite !mult_IZR in B. auto. }
  split; intros x y r D L N; destruct (Each x y r D L N) as [A B]; rewrite gap_reals; [lra|].
  rewrite Q. apply Rle_ge. set (s := IZR (zgap W (x, y, r))) in *.
  assert (Q0 : 0 <= IZR (zsquare K W)).
  { rewrite <- Q. unfold square. clear. induction (seq 0 K) as [|k l IH]; unfold sum in *; simpl; [lra|].
    pose proof (vdot_self (real_weights W k)). lra. }
  pose proof (sqrt_sqrt _ Q0) as SS. pose proof (sqrt_pos (IZR (zsquare K W))) as SP.
  set (q := sqrt (IZR (zsquare K W))) in *. set (G := IZR gd) in *.
  apply Rmult_le_reg_l with G; [assumption|]. replace (G * (IZR gn / G * q)) with (IZR gn * q) by (field; lra).
  apply Rsqr_incr_0_var; [|nra]. unfold Rsqr.
  replace (IZR gn * q * (IZR gn * q)) with (IZR gn * IZR gn * (q * q)) by ring. rewrite SS. lra.
Qed.

(* ---- the claim "errors": exactly so many rows are predicted wrongly, under a tie rule ---- *)
(* `positive`: the lowest of the classes with the highest score is predicted; of two classes, score 0 predicts class 1.
   `mistake`: a row is right only if its own class scores strictly highest. *)
Inductive ties := positive | mistake.
Definition beats (K : nat) (r y : nat) : bool := if Nat.eqb K 2 then Nat.ltb y r else Nat.ltb r y.  (* at equal scores *)
Definition wrong_at (K : nat) (t : ties) (W : zweights) (p : pair) : bool :=
  let '(x, y, r) := p in
  Z.ltb (zgap W p) 0 || (Z.eqb (zgap W p) 0 && match t with mistake => true | positive => beats K r y end).
Definition wrong (K : nat) (t : ties) (W : zweights) (e : example) : bool :=
  existsb (fun r => negb (Nat.eqb r (snd e)) && wrong_at K t W (fst e, snd e, r)) (seq 0 K).
Definition errors (K : nat) (t : ties) (data : list example) (W : zweights) : nat := length (filter (wrong K t W) data).

(* What a classifier answers. *)
Definition predicts (K : nat) (W : zweights) (x : row) (c : nat) : Prop :=
  (c < K)%nat /\ forall k, (k < K)%nat -> k <> c ->
    (zdot (W k) x < zdot (W c) x \/ (zdot (W k) x = zdot (W c) x /\ beats K c k = true))%Z.

Theorem wrong_is_another_prediction : forall K W x y, (y < K)%nat ->
  wrong K positive W (x, y) = false <-> predicts K W x y.
Proof.
  intros K W x y Y. unfold wrong. cbn [fst snd]. split.
  - intro H. split; [assumption|]. intros k Lk N.
    assert (E : negb (Nat.eqb k y) && wrong_at K positive W (x, y, k) = false).
    { destruct (negb (Nat.eqb k y) && wrong_at K positive W (x, y, k)) eqn:E; [|reflexivity].
      exfalso. rewrite <- not_true_iff_false in H. apply H. apply existsb_exists. exists k. split; [apply in_seq; lia|exact E]. }
    assert (NY : negb (Nat.eqb k y) = true) by (apply negb_true_iff, Nat.eqb_neq; assumption). rewrite NY in E. simpl in E.
    apply orb_false_iff in E as [A B]. apply Z.ltb_ge in A.
    destruct (Z.eqb_spec (zdot (W y) x - zdot (W k) x) 0) as [T|T]; [right|left; lia].
    split; [lia|]. simpl in B. unfold beats in *. destruct (Nat.eqb K 2); apply Nat.ltb_ge in B; apply Nat.ltb_lt; lia.
  - intros [_ P]. apply not_true_iff_false. intro H. apply existsb_exists in H as [r [S E]]. apply in_seq in S.
    apply andb_true_iff in E as [N E]. apply negb_true_iff, Nat.eqb_neq in N.
    destruct (P r ltac:(lia) N) as [G|[G B]]; simpl in E; apply orb_true_iff in E as [E|E].
    + apply Z.ltb_lt in E. lia.
    + apply andb_true_iff in E as [E _]. apply Z.eqb_eq in E. lia.
    + apply Z.ltb_lt in E. lia.
    + apply andb_true_iff in E as [_ E]. unfold beats in *. destruct (Nat.eqb K 2); apply Nat.ltb_lt in B, E; lia.
Qed.

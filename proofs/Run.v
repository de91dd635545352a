(* The claim "run": what the plain perceptron does, visit by visit, and that Novikoff's bound holds for it. *)
Require Import ZArith Reals List Lra Lia Psatz Bool.
From Novikoff Require Import Sums Space Vectors Perceptron Certificates.
Import ListNotations.

Open Scope Z_scope.
(* The rival of a class: the lowest of the other classes that score highest. None if there is no other class. *)
Definition better (W : zweights) (x : row) (best : option nat) (r : nat) : option nat :=
  match best with
  | None => Some r
  | Some b => if Z.ltb (zdot (W b) x) (zdot (W r) x) then Some r else Some b
  end.
Definition rivals (K y : nat) : list nat := filter (fun r => negb (Nat.eqb r y)) (seq 0 K).
Definition rival (K : nat) (W : zweights) (x : row) (y : nat) : option nat :=
  fold_left (better W x) (rivals K y) None.

(* An update: W + z, where z is x in the block of its class and -x in that of the rival. *)
Definition zvector (p : pair) : zweights :=
  let '(x, y, r) := p in fun k => if Nat.eqb y k then x else if Nat.eqb r k then zscale (-1) x else [].
Definition moved (W : zweights) (p : pair) : zweights := fun k => zadd (W k) (zvector p k).

(* The updates that the perceptron makes. With two classes the vector of class 0 is never used: `first_block`. *)
Definition seen (K : nat) (W : zweights) : zweights := fun k => if Nat.ltb k (first_block K) then [] else W k.
Fixpoint run (K : nat) (t : ties) (W : zweights) (visits : list example) : list pair :=
  match visits with
  | [] => []
  | (x, y) :: rest =>
      if wrong K t (seen K W) (x, y) then
        match rival K (seen K W) x y with
        | Some r => (x, y, r) :: run K t (moved W (x, y, r)) rest
        | None => run K t W rest
        end
      else run K t W rest
  end.
Definition start : zweights := fun _ => [].

Lemma rival_is_highest : forall W x rs best b,
  fold_left (better W x) rs best = Some b ->
  (In b rs \/ best = Some b) /\ (forall r, In r rs \/ best = Some r -> zdot (W r) x <= zdot (W b) x).
Proof.
  intros W x; induction rs as [|r rs IH]; intros best b H.
  - simpl in H. split; [right; assumption|]. intros r [[]|E]. rewrite H in E. inversion E. lia.
  - cbn [fold_left] in H. destruct (IH _ _ H) as [A B]. split.
    + destruct A as [A|A]; [left; right; assumption|]. destruct best as [c|]; simpl in A.
      * destruct (Z.ltb _ _); inversion A; subst; [left; left; reflexivity|right; reflexivity].
      * inversion A; subst. left; left; reflexivity.
    + intros q [[E|Q]|E].
      * subst q. destruct best as [c|]; [|apply B; right; reflexivity]. simpl in B.
        destruct (Z.ltb_spec (zdot (W c) x) (zdot (W r) x)); [apply B; right; reflexivity|].
        specialize (B c (or_intror eq_refl)). lia.
      * apply B. left; assumption.
      * subst best. simpl in B. destruct (Z.ltb_spec (zdot (W q) x) (zdot (W r) x)).
        -- specialize (B r (or_intror eq_refl)). lia.
        -- apply B. right; reflexivity.
Qed.

Lemma mistake_of_rival : forall K t W x y r,
  wrong K t W (x, y) = true -> rival K W x y = Some r -> zgap W (x, y, r) <= 0 /\ r <> y /\ (r < K)%nat.
Proof.
  intros K t W x y r H F. unfold rival in F. destruct (rival_is_highest _ _ _ _ _ F) as [I B].
  destruct I as [I|I]; [|discriminate]. unfold rivals in *. apply filter_In in I as [S N]. apply in_seq in S.
  apply negb_true_iff, Nat.eqb_neq in N. split; [|split; [assumption|lia]].
  unfold wrong in H. apply existsb_exists in H as [q [Q E]]. cbn [fst snd] in E. apply andb_true_iff in E as [NQ E].
  assert (L : zdot (W q) x <= zdot (W r) x).
  { apply B. left. apply filter_In. split; assumption. }
  simpl. simpl in E. apply orb_true_iff in E as [E|E]; [apply Z.ltb_lt in E; lia|].
  apply andb_true_iff in E as [E _]. apply Z.eqb_eq in E. lia.
Qed.

Open Scope R_scope.
Section Bound.
Variables (K : nat) (t : ties).
Definition blocks : space := families (first_block K) (K - first_block K).
Definition real (W : zweights) : blocks := fun k => reals (W k).

Lemma in_blocks : forall k, In k (seq (first_block K) (K - first_block K)) -> Nat.ltb k (first_block K) = false.
Proof. intros k H. apply in_seq in H. apply Nat.ltb_ge. lia. Qed.

(* W . z is the gap. *)
Lemma dot_zvector : forall (u : blocks) x y r, (y < K)%nat -> (r < K)%nat -> r <> y -> (K = 2%nat -> u 0%nat = []) ->
  @dot blocks u (real (zvector (x, y, r))) = vdot (u y) (reals x) - vdot (u r) (reals x).
Proof.
  intros u x y r Y Rk N L. cbn [dot blocks families]. unfold fdot, real.
  rewrite <- (blocks_from_first K u (fun k => reals (zvector (x, y, r) k)) L).
  transitivity (sum (map (fun k => if Nat.eqb y k then vdot (u k) (reals x) else 0) (seq 0 K))
    + sum (map (fun k => if Nat.eqb r k then - vdot (u k) (reals x) else 0) (seq 0 K))).
  - rewrite <- sum_add. f_equal. apply map_ext. intro k. simpl.
    destruct (Nat.eqb_spec y k), (Nat.eqb_spec r k); subst; try congruence;
      rewrite ?reals_scale, ?vdot_scale_r; simpl; rewrite ?vdot_nil_r; ring.
  - rewrite (sum_only (fun k => vdot (u k) (reals x)) y K Y), (sum_only (fun k => - vdot (u k) (reals x)) r K Rk). ring.
Qed.

Lemma dot_seen : forall W (b : blocks), @dot blocks (real (seen K W)) b = @dot blocks (real W) b.
Proof.
  intros W b. cbn [dot blocks families]. unfold fdot, real, seen. f_equal. apply map_ext_in. intros k H.
  rewrite (in_blocks k H). reflexivity.
Qed.

Lemma mistaken_same : forall (zs : list blocks) (w w' : blocks), (forall b : blocks, @dot blocks w b = @dot blocks w' b) ->
  mistaken blocks 0 w zs -> mistaken blocks 0 w' zs.
Proof.
  induction zs as [|z zs IH]; intros w w' E M; [exact I|]. destruct M as [A M]. split; [rewrite <- E; assumption|].
  apply IH with (add w z); [|assumption]. intro b. rewrite !dot_add_l, E. reflexivity.
Qed.

Definition in_classes (e : example) : Prop := (snd e < K)%nat.

Theorem run_mistaken : forall visits W, Forall in_classes visits ->
  mistaken blocks 0 (real W) (map (fun p => real (zvector p)) (run K t W visits)).
Proof.
  induction visits as [|[x y] visits IH]; intros W F; [exact I|]. inversion F as [|e l Y F']; subst.
  cbn [run]. destruct (wrong K t (seen K W) (x, y)) eqn:Wr; [|apply IH; assumption].
  destruct (rival K (seen K W) x y) as [r|] eqn:Ri; [|apply IH; assumption].
  destruct (mistake_of_rival K t (seen K W) x y r Wr Ri) as [G [N L]]. cbn [map mistaken]. split.
  - rewrite <- dot_seen, dot_zvector; auto.
    + unfold real. rewrite !dot_reals, <- minus_IZR. apply IZR_le. exact G.
    + intros ->. reflexivity.
  - apply mistaken_same with (real (moved W (x, y, r))); [|apply IH; assumption].
    intro b. cbn [dot add blocks families]. unfold fdot, real, moved. f_equal. apply map_ext. intro k.
    rewrite reals_add. reflexivity.
Qed.

Lemma run_pairs : forall data visits W p, incl visits data -> Forall in_classes visits ->
  In p (run K t W visits) -> let '(x, y, r) := p in In (x, y) data /\ (y < K)%nat /\ (r < K)%nat /\ r <> y.
Proof.
  intros data; induction visits as [|[x y] visits IH]; intros W p S F H; [destruct H|]. inversion F; subst.
  assert (S' : incl visits data) by (intros e He; apply S; right; assumption).
  cbn [run] in H. destruct (wrong K t (seen K W) (x, y)) eqn:Wr; [|eapply IH; eauto].
  destruct (rival K (seen K W) x y) as [r|] eqn:Ri; [|eapply IH; eauto].
  destruct H as [<-|H]; [|eapply IH; eauto].
  destruct (mistake_of_rival K t (seen K W) x y r Wr Ri) as [_ [N L]]. auto using S, in_eq.
Qed.

(* Novikoff's bound for the run: k g^2 <= R^2 |u|^2, for any weights u that get every row right by g. *)
Theorem run_bound : forall data visits (u : weights) g RR,
  incl visits data -> Forall in_classes visits -> legal K u ->
  0 < square K u -> 0 <= g ->
  (forall x y r, In (x, y) data -> (r < K)%nat -> r <> y -> g <= gap u (x, y, r)) ->
  (forall x y r, In (x, y) data -> (r < K)%nat -> r <> y ->
     @dot blocks (real (zvector (x, y, r))) (real (zvector (x, y, r))) <= RR) -> 0 <= RR ->
  INR (length (run K t start visits)) * (g * g) <= RR * square K u.
Proof.
  intros data visits u g RR S F L Q G M B HR.
  set (n := sqrt (square K u)). assert (N : 0 < n) by (apply sqrt_lt_R0; assumption).
  assert (NN : n * n = square K u) by (apply sqrt_sqrt; lra).
  assert (E : @dot blocks u u = square K u) by (rewrite (square_from_first K u L); reflexivity).
  set (k := INR (length (run K t start visits))).
  assert (A : k * (g / n * (g / n)) <= RR).
  { unfold k. rewrite <- (map_length (fun p => real (zvector p))).
    apply (novikoff blocks) with (u := @scale blocks (/ n) u).
    - apply run_mistaken with (W := start). assumption.
    - intros z Hz. apply in_map_iff in Hz as [[[x y] r] [<- Hp]].
      pose proof (run_pairs data visits start _ S F Hp) as [D [_ [Rk NY]]]. eauto.
    - assumption.
    - rewrite dot_scale_l, dot_scale_r, E, <- NN. field. lra.
    - apply Rmult_le_pos; [assumption|]. left. apply Rinv_0_lt_compat. assumption.
    - intros z Hz. apply in_map_iff in Hz as [[[x y] r] [<- Hp]].
      pose proof (run_pairs data visits start _ S F Hp) as [D [Y [Rk NY]]].
      rewrite dot_scale_l, dot_zvector; auto. unfold Rdiv. rewrite Rmult_comm.
      apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; assumption|]. apply (M x y r D Rk NY). }
  rewrite <- NN. replace (k * (g * g)) with (k * (g / n * (g / n)) * (n * n)) by (field; lra).
  apply Rmult_le_compat_r; [nra|assumption].
Qed.
End Bound.

(* Vectors as lists of real numbers: a shorter list stands for one that goes on with zeros. Inner products,
   and the inequality of Cauchy and Schwarz. Everything else in this folder stands on these. *)
Require Import Reals List Lra Psatz.
Import ListNotations.
Open Scope R_scope.

Definition vector := list R.

Fixpoint dot (a b : vector) : R :=
  match a, b with x :: a', y :: b' => x * y + dot a' b' | _, _ => 0 end.

Fixpoint add (a b : vector) : vector :=
  match a, b with
  | [], _ => b
  | _, [] => a
  | x :: a', y :: b' => (x + y) :: add a' b'
  end.

Definition scale (k : R) (a : vector) : vector := map (Rmult k) a.

(* The sum of vectors, and of numbers. *)
Definition total (vs : list vector) : vector := fold_left add vs [].
Definition sum (xs : list R) : R := fold_right Rplus 0 xs.

Lemma dot_nil_r : forall a, dot a [] = 0.
Proof. destruct a; reflexivity. Qed.

Lemma dot_comm : forall a b, dot a b = dot b a.
Proof. induction a as [|x a IH]; intros [|y b]; simpl; try reflexivity. rewrite IH. ring. Qed.

Lemma dot_add_r : forall c a b, dot c (add a b) = dot c a + dot c b.
Proof.
  induction c as [|x c IH]; intros [|y a] [|z b]; simpl; try ring.
  rewrite IH. ring.
Qed.

Lemma dot_add_l : forall a b c, dot (add a b) c = dot a c + dot b c.
Proof. intros. rewrite !(dot_comm _ c). apply dot_add_r. Qed.

Lemma dot_scale_r : forall k c a, dot c (scale k a) = k * dot c a.
Proof.
  intros k; induction c as [|x c IH]; intros [|y a]; simpl; try ring.
  change (map (Rmult k) a) with (scale k a). rewrite IH. ring.
Qed.

Lemma dot_scale_l : forall k a c, dot (scale k a) c = k * dot a c.
Proof. intros. rewrite !(dot_comm _ c). apply dot_scale_r. Qed.

Lemma dot_self : forall a, 0 <= dot a a.
Proof. induction a; simpl; nra. Qed.

Lemma square_of_sum : forall a b, dot (add a b) (add a b) = dot a a + 2 * dot a b + dot b b.
Proof. intros. rewrite dot_add_l, !dot_add_r, (dot_comm b a). ring. Qed.

(* |a + t b|^2 is nowhere negative; its smallest value is where t = -ab / bb. *)
Theorem cauchy_schwarz : forall a b, dot a b * dot a b <= dot a a * dot b b.
Proof.
  intros a b.
  assert (P : forall t, 0 <= dot a a + 2 * t * dot a b + t * t * dot b b).
  { intro t. pose proof (dot_self (add a (scale t b))) as H.
    rewrite square_of_sum, dot_scale_r, dot_scale_l, dot_scale_r in H. lra. }
  destruct (Req_dec (dot b b) 0) as [Z|N].
  - pose proof (P 1). pose proof (dot_self a).
    destruct (Req_dec (dot a b) 0) as [E|E]; [rewrite E, Z; lra|].
    specialize (P (- (dot a a + 1) / (2 * dot a b))). rewrite Z in P.
    replace (2 * (- (dot a a + 1) / (2 * dot a b)) * dot a b) with (- (dot a a + 1)) in P by (field; lra).
    lra.
  - pose proof (dot_self b) as B. specialize (P (- dot a b / dot b b)).
    replace (dot a a + 2 * (- dot a b / dot b b) * dot a b + - dot a b / dot b b * (- dot a b / dot b b) * dot b b)
      with ((dot a a * dot b b - dot a b * dot a b) / dot b b) in P by (field; lra).
    assert (Q : 0 < dot b b) by lra.
    apply (Rmult_le_compat_r (dot b b)) in P; [|lra].
    unfold Rdiv in P. rewrite Rmult_assoc, Rinv_l in P by lra. lra.
Qed.

(* The length of a vector. *)
Definition norm (a : vector) : R := sqrt (dot a a).

Lemma norm_square : forall a, norm a * norm a = dot a a.
Proof. intro. apply sqrt_sqrt, dot_self. Qed.

Lemma norm_pos : forall a, 0 <= norm a.
Proof. intro. apply sqrt_pos. Qed.

Corollary dot_le_norms : forall a b, dot a b <= norm a * norm b.
Proof.
  intros a b. pose proof (cauchy_schwarz a b) as C.
  rewrite <- (norm_square a), <- (norm_square b) in C.
  pose proof (norm_pos a). pose proof (norm_pos b).
  destruct (Rle_dec (dot a b) 0); [nra|].
  apply Rsqr_incr_0_var; [unfold Rsqr; lra|nra].
Qed.

(* The same for sums: (sum d_i)^2 <= n * sum d_i^2. *)
Lemma sum_square : forall d, sum d * sum d <= INR (length d) * sum (map (fun x => x * x) d).
Proof.
  assert (S : forall d, dot (repeat 1 (length d)) d = sum d).
  { induction d; simpl; [reflexivity|rewrite IHd; ring]. }
  assert (Q : forall d, dot d d = sum (map (fun x => x * x) d)).
  { induction d; simpl; [reflexivity|rewrite IHd; ring]. }
  assert (L : forall n, dot (repeat 1 n) (repeat 1 n) = INR n).
  { induction n; [reflexivity|]. rewrite S_INR. simpl repeat. simpl dot. rewrite IHn. ring. }
  intro d. rewrite <- S, <- L, <- Q. apply cauchy_schwarz.
Qed.

(* Spaces with an inner product, and the inequality of Cauchy and Schwarz in them. The theorems about the perceptron hold
   in all of them: plain vectors, one vector per class, the space of a kernel. *)
Require Import Reals List Lra Psatz.
From Novikoff Require Import Sums.
Import ListNotations.
Open Scope R_scope.

Record space := {
  element :> Type;
  zero : element;
  add : element -> element -> element;
  scale : R -> element -> element;
  dot : element -> element -> R;
  dot_comm : forall a b, dot a b = dot b a;
  dot_zero : forall a, dot a zero = 0;
  dot_add_r : forall c a b, dot c (add a b) = dot c a + dot c b;
  dot_scale_r : forall k c a, dot c (scale k a) = k * dot c a;
  dot_self : forall a, 0 <= dot a a
}.
Arguments dot_comm {s}. Arguments dot_zero {s}. Arguments dot_add_r {s}. Arguments dot_scale_r {s}. Arguments dot_self {s}.
Arguments zero {s}. Arguments add {s}. Arguments scale {s}. Arguments dot {s}.

Section Space.
Variable V : space.
Implicit Types a b c : V.

Lemma dot_add_l : forall a b c, dot (add a b) c = dot a c + dot b c.
Proof. intros. rewrite !(dot_comm _ c). apply dot_add_r. Qed.

Lemma dot_scale_l : forall k a c, dot (scale k a) c = k * dot a c.
Proof. intros. rewrite !(dot_comm _ c). apply dot_scale_r. Qed.

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
Definition norm (a : V) : R := sqrt (dot a a).

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
End Space.
Arguments norm {V}.
Arguments dot_add_l {V}. Arguments dot_scale_l {V}. Arguments square_of_sum {V}. Arguments cauchy_schwarz {V}.
Arguments norm_square {V}. Arguments norm_pos {V}. Arguments dot_le_norms {V}.

(* Two spaces: vectors as lists of real numbers, where a shorter list stands for one that goes on with zeros; and one
   such vector for each of K classes. *)
Require Import Reals List Lra Psatz.
From Novikoff Require Import Sums Space.
Import ListNotations.
Open Scope R_scope.

Definition vector := list R.

Fixpoint vdot (a b : vector) : R := match a, b with x :: a', y :: b' => x * y + vdot a' b' | _, _ => 0 end.
Fixpoint vadd (a b : vector) : vector :=
  match a, b with [], _ => b | _, [] => a | x :: a', y :: b' => (x + y) :: vadd a' b' end.
Definition vscale (k : R) (a : vector) : vector := map (Rmult k) a.

Lemma vdot_nil_r : forall a, vdot a [] = 0.
Proof. destruct a; reflexivity. Qed.
Lemma vdot_comm : forall a b, vdot a b = vdot b a.
Proof. induction a as [|x a IH]; intros [|y b]; simpl; try reflexivity. rewrite IH. ring. Qed.
Lemma vdot_add_r : forall c a b, vdot c (vadd a b) = vdot c a + vdot c b.
Proof. induction c as [|x c IH]; intros [|y a] [|z b]; simpl; try ring. rewrite IH. ring. Qed.
Lemma vdot_scale_r : forall k c a, vdot c (vscale k a) = k * vdot c a.
Proof.
  intros k; induction c as [|x c IH]; intros [|y a]; simpl; try ring.
  change (map (Rmult k) a) with (vscale k a). rewrite IH. ring.
Qed.
Lemma vdot_self : forall a, 0 <= vdot a a.
Proof. induction a; simpl; nra. Qed.

Definition vectors : space :=
  Build_space vector [] vadd vscale vdot vdot_comm vdot_nil_r vdot_add_r vdot_scale_r vdot_self.

(* One vector per class: those of the classes `from` to `from + count - 1` count. *)
Definition family := nat -> vector.
Definition fdot (from count : nat) (f g : family) : R := sum (map (fun k => vdot (f k) (g k)) (seq from count)).

Definition families (from count : nat) : space.
Proof.
  refine (Build_space family (fun _ => []) (fun f g k => vadd (f k) (g k)) (fun x f k => vscale x (f k))
    (fdot from count) _ _ _ _ _); unfold fdot.
  - intros f g. f_equal. apply map_ext. intro. apply vdot_comm.
  - intros f. induction (seq from count) as [|k l IH]; unfold sum in *; simpl; [reflexivity|]. rewrite IH, vdot_nil_r. ring.
  - intros h f g. rewrite <- sum_add. f_equal. apply map_ext. intro. apply vdot_add_r.
  - intros x h f. rewrite <- sum_scale. f_equal. apply map_ext. intro. apply vdot_scale_r.
  - intros f. apply sum_nonnegative. intro. apply vdot_self.
Defined.

(* Sums of real numbers. *)
Require Import Reals List Lra Psatz.
Import ListNotations.
Open Scope R_scope.

Definition sum (xs : list R) : R := fold_right Rplus 0 xs.

Lemma sum_add : forall (A : Type) (f g : A -> R) l, sum (map (fun x => f x + g x) l) = sum (map f l) + sum (map g l).
Proof. intros A f g; induction l as [|x l IH]; unfold sum in *; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma sum_scale : forall (A : Type) k (f : A -> R) l, sum (map (fun x => k * f x) l) = k * sum (map f l).
Proof. intros A k f; induction l as [|x l IH]; unfold sum in *; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma sum_nonnegative : forall (A : Type) (f : A -> R) l, (forall x, 0 <= f x) -> 0 <= sum (map f l).
Proof. intros A f l P; induction l as [|x l IH]; unfold sum in *; simpl; [lra|]. specialize (P x). lra. Qed.

(* (x_1 + ... + x_n)^2 <= n * (x_1^2 + ... + x_n^2). *)
Lemma sum_square : forall xs, sum xs * sum xs <= INR (length xs) * sum (map (fun x => x * x) xs).
Proof.
  assert (G : forall y xs, 2 * y * sum xs <= INR (length xs) * (y * y) + sum (map (fun x => x * x) xs)).
  { intros y; induction xs as [|x xs IH]; [unfold sum; simpl; lra|].
    cbn [length map]. rewrite S_INR. unfold sum in *. cbn [fold_right].
    pose proof (Rle_0_sqr (y - x)) as S. unfold Rsqr in S. lra. }
  induction xs as [|x xs IH]; [unfold sum; simpl; lra|].
  cbn [length map]. rewrite S_INR. specialize (G x xs). unfold sum in *. cbn [fold_right]. lra.
Qed.

(* The decisive comparison: P <= e^x Q + delta, and P > e^x Q + delta, for rational P, Q, delta and x >= 0.

   Partial sums of the exponential series bound e^x from below; with a geometric series for the rest, from above.  The axioms are those of
   the real numbers of Coq's library, and no others. *)
Require Import QArith Qreals Reals Lra Lia List Bool.
Open Scope R_scope.

Fixpoint term (x : Q) (n : nat) : Q := match n with O => 1 | S n' => Qred (term x n' * x / inject_Z (Z.of_nat n)) end.
Fixpoint sum (x : Q) (n : nat) : Q := match n with O => 1 | S n' => Qred (sum x n' + term x n) end.

Definition below (x p q delta : Q) (n : nat) : bool :=           (* then P <= e^x Q + delta *)
  Qle_bool 0 x && Qle_bool 0 q && Qle_bool p (sum x n * q + delta).

Lemma factor_pos n : (0 < INR (S n))%R.
Proof. apply lt_0_INR. lia. Qed.

Lemma inject_nat n : Q2R (inject_Z (Z.of_nat n)) = INR n.
Proof. unfold Q2R. simpl. rewrite <- INR_IZR_INZ. lra. Qed.

Lemma term_value x n : Q2R (term x n) = / INR (fact n) * Q2R x ^ n.
Proof. induction n as [|n IH].
  - simpl. unfold Q2R. simpl. lra.
  - cbn [term]. rewrite (Qeq_eqR _ _ (Qred_correct _)). unfold Qdiv. rewrite !Q2R_mult, Q2R_inv, inject_nat.
    + rewrite IH. rewrite fact_simpl, mult_INR. simpl pow. field. repeat split; first [apply INR_fact_neq_0 | apply not_0_INR; lia].
    + intro E. apply Qeq_eqR in E. rewrite inject_nat in E. pose proof (factor_pos n). replace (Q2R 0) with 0 in E by (unfold Q2R; simpl; lra). lra. Qed.

Lemma sum_value x n : Q2R (sum x n) = sum_f_R0 (fun i => / INR (fact i) * Q2R x ^ i) n.
Proof. induction n as [|n IH].
  - simpl. unfold Q2R. simpl. lra.
  - cbn [sum]. rewrite (Qeq_eqR _ _ (Qred_correct _)), Q2R_plus, IH, term_value. reflexivity. Qed.

Lemma exp_series x : Un_cv (fun N => sum_f_R0 (fun i => / INR (fact i) * x ^ i) N) (exp x).
Proof. unfold exp. destruct (exist_exp x) as [l H]. simpl. exact H. Qed.

Lemma terms_nonneg x : 0 <= x -> forall i, 0 <= / INR (fact i) * x ^ i.
Proof. intros H i. apply Rmult_le_pos; [left; apply Rinv_0_lt_compat, INR_fact_lt_0 | apply pow_le; exact H]. Qed.

Lemma sum_below x n : (0 <= x)%Q -> Q2R (sum x n) <= exp (Q2R x).
Proof. intro H. rewrite sum_value. apply Qle_Rle in H. replace (Q2R 0) with 0 in H by (unfold Q2R; simpl; lra).
  apply (sum_incr (fun i => / INR (fact i) * Q2R x ^ i) n); [apply exp_series | apply terms_nonneg; exact H]. Qed.

Theorem below_sound x p q delta n : below x p q delta n = true -> Q2R p <= exp (Q2R x) * Q2R q + Q2R delta.
Proof. unfold below. intro H. apply andb_true_iff in H. destruct H as [H Hp]. apply andb_true_iff in H. destruct H as [Hx Hq].
  apply Qle_bool_iff in Hx, Hq, Hp. pose proof (sum_below x n Hx) as L.
  apply Qle_Rle in Hq, Hp. rewrite Q2R_plus, Q2R_mult in Hp. replace (Q2R 0) with 0 in Hq by (unfold Q2R; simpl; lra).
  assert (Q2R (sum x n) * Q2R q <= exp (Q2R x) * Q2R q) by (apply Rmult_le_compat_r; assumption). lra. Qed.

(* ---------- from above ---------- *)
Definition rest (x : Q) (n : nat) : Q :=            (* term (n+1) / (1 - x/(n+2)) *)
  Qred (term x (S n) * inject_Z (Z.of_nat (n + 2)) / (inject_Z (Z.of_nat (n + 2)) - x)).
Definition above (x p q delta : Q) (n : nat) : bool :=           (* then P > e^x Q + delta *)
  Qle_bool 0 x && Qle_bool 0 q && negb (Qle_bool (inject_Z (Z.of_nat (n + 2))) x) &&
  negb (Qle_bool p ((sum x n + rest x n) * q + delta)).

Definition T (x : R) (n : nat) : R := / INR (fact n) * x ^ n.
Definition B (x : R) (n : nat) : R := sum_f_R0 (T x) n + T x (S n) * INR (n + 2) / (INR (n + 2) - x).

Lemma T_succ x n : T x (S n) = T x n * x / INR (S n).
Proof. unfold T. rewrite fact_simpl, mult_INR. simpl pow. field. repeat split; first [apply INR_fact_neq_0 | apply not_0_INR; lia]. Qed.

Lemma B_falls x n : 0 <= x -> x < INR (n + 2) -> B x (S n) <= B x n.
Proof. intros P L. unfold B. cbn [sum_f_R0]. rewrite (T_succ x (S n)).
  replace (INR (S (S n))) with (INR (n + 2)) by (f_equal; lia).
  set (t := T x (S n)). set (m := INR (n + 2)) in *. replace (INR (S n + 2)) with (m + 1) by (unfold m; rewrite <- S_INR; f_equal; lia).
  assert (Ht : 0 <= t) by (unfold t, T; apply terms_nonneg; exact P).
  assert (Hm : 0 < m) by lra.
  assert (E : sum_f_R0 (T x) n + t * m / (m - x) - (sum_f_R0 (T x) n + t + t * x / m * (m + 1) / (m + 1 - x)) =
    t * (x * x) / (m * (m - x) * (m + 1 - x))) by (field; lra).
  assert (0 <= t * (x * x) / (m * (m - x) * (m + 1 - x))).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [exact Ht | nra] | left; apply Rinv_0_lt_compat; repeat apply Rmult_lt_0_compat; lra]. }
  lra. Qed.

Lemma sums_below_B x n : 0 <= x -> x < INR (n + 2) -> forall k, sum_f_R0 (T x) (n + k) <= B x n.
Proof. intros P L k.
  assert (K : forall j, x < INR (n + j + 2) /\ B x (n + j) <= B x n).
  { induction j as [|j [Lj Bj]]; [rewrite Nat.add_0_r; split; [exact L | lra]|].
    replace (n + S j)%nat with (S (n + j)) by lia. split.
    - assert (INR (n + j + 2) <= INR (S (n + j) + 2)) by (apply le_INR; lia). lra.
    - pose proof (B_falls x (n + j) P Lj). lra. }
  destruct (K k) as [Lk Bk]. apply Rle_trans with (B x (n + k)); [|exact Bk]. unfold B.
  assert (0 <= T x (S (n + k)) * INR (n + k + 2) / (INR (n + k + 2) - x)).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [apply terms_nonneg; exact P | apply pos_INR] | left; apply Rinv_0_lt_compat; lra]. }
  lra. Qed.

Lemma exp_below_B x n : 0 <= x -> x < INR (n + 2) -> exp x <= B x n.
Proof. intros P L. destruct (Rle_or_lt (exp x) (B x n)) as [Y|N]; [exact Y|]. exfalso.
  destruct (exp_series x (exp x - B x n) ltac:(lra)) as [N0 H].
  specialize (H (n + N0)%nat ltac:(lia)). pose proof (sums_below_B x n P L N0) as S. unfold T in S.
  unfold R_dist in H. rewrite Rabs_left1 in H; lra. Qed.

Theorem above_sound x p q delta n : above x p q delta n = true -> exp (Q2R x) * Q2R q + Q2R delta < Q2R p.
Proof. unfold above. intro H. apply andb_true_iff in H. destruct H as [H Hp]. apply andb_true_iff in H. destruct H as [H Hn].
  apply andb_true_iff in H. destruct H as [Hx Hq]. apply Qle_bool_iff in Hx, Hq.
  assert (Ln : (x < inject_Z (Z.of_nat (n + 2)))%Q).
  { apply Qnot_le_lt. intro C. apply Qle_bool_iff in C. rewrite C in Hn. discriminate. }
  assert (Lp : ((sum x n + rest x n) * q + delta < p)%Q).
  { apply Qnot_le_lt. intro C. apply Qle_bool_iff in C. rewrite C in Hp. discriminate. }
  apply Qle_Rle in Hx, Hq. replace (Q2R 0) with 0 in * by (unfold Q2R; simpl; lra).
  pose proof (Qlt_Rlt _ _ Ln) as Lr. rewrite inject_nat in Lr.
  assert (E : Q2R (sum x n + rest x n) = B (Q2R x) n).
  { rewrite Q2R_plus, sum_value. unfold B, rest. rewrite (Qeq_eqR _ _ (Qred_correct _)). unfold Qdiv.
    rewrite !Q2R_mult, Q2R_inv, Q2R_minus, inject_nat, term_value; [reflexivity|].
    intro C. apply Qeq_eqR in C. rewrite Q2R_minus, inject_nat in C. replace (Q2R 0) with 0 in C by (unfold Q2R; simpl; lra). lra. }
  pose proof (exp_below_B (Q2R x) n Hx Lr) as U. rewrite <- E in U.
  apply Qlt_Rlt in Lp. rewrite Q2R_plus, Q2R_mult in Lp.
  assert (exp (Q2R x) * Q2R q <= Q2R (sum x n + rest x n) * Q2R q) by (apply Rmult_le_compat_r; assumption). lra. Qed.

Print Assumptions below_sound.
Print Assumptions above_sound.

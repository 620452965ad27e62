(* The rule of inductive vectors: generators at every node that dominate every start and every step, and respect the bound where
   words end.  What passes [dominate] holds for the words of every path.  No axioms. *)
Require Import QArith Qfield List Lia Lqa Setoid Bool.
Require Import Vectors.
Import ListNotations.
Open Scope Q_scope.

Definition nonneg (u : vec) : bool := forallb (Qle_bool 0) u.
Fixpoint leb (u v : vec) : bool :=        (* entrywise; missing entries count as 0 *)
  match u, v with
  | [], v => nonneg v
  | x :: u', [] => Qle_bool x 0 && leb u' []
  | x :: u', y :: v' => Qle_bool x y && leb u' v' end.
Definition col (A : mat) (h : vec) : vec := map (fun r => dot r h) A.
Record trans := Trans { src : nat; dst : nat; left : mat; right : mat; mult : list vec }.
Record system := System { edges : list trans; ends : nat -> list (vec * vec);    (* f and g: how words end at a node *)
                          gens : nat -> list (vec * vec); nodes : list nat }.
Fixpoint P (w : list trans) (f : vec) : vec := match w with [] => f | t :: w' => col (left t) (P w' f) end.
Fixpoint R (w : list trans) (g : vec) : vec := match w with [] => g | t :: w' => col (right t) (R w' g) end.
Inductive path (s : system) : nat -> list trans -> nat -> Prop :=
  | here : forall n, In n (nodes s) -> path s n [] n
  | go : forall t w m, In t (edges s) -> In (src t) (nodes s) -> path s (dst t) w m -> path s (src t) (t :: w) m.
Definition covered (p q : vec) (ks : vec) (gs : list (vec * vec)) : bool :=
  nonneg ks && leb p (comb ks (map fst gs)) && leb (comb ks (map snd gs)) q.
Fixpoint all2 {X Y} (ok : X -> Y -> bool) (xs : list X) (ys : list Y) : bool :=
  match xs, ys with [], [] => true | x :: xs', y :: ys' => ok x y && all2 ok xs' ys' | _, _ => false end.
Definition step_ok (s : system) (t : trans) : bool :=
  forallb nonneg (left t) && forallb nonneg (right t) &&
  all2 (fun g ks => covered (apply (fst g) (left t)) (apply (snd g) (right t)) ks (gens s (dst t)))
       (gens s (src t)) (mult t).
Definition end_ok (s : system) (c : Q) (n : nat) : bool :=
  forallb (fun e => nonneg (fst e) && nonneg (snd e) &&
    forallb (fun g => Qle_bool (dot (fst g) (fst e)) (c * dot (snd g) (snd e))) (gens s n)) (ends s n).
Definition inductive_ok (s : system) (c : Q) : bool :=
  Qle_bool 0 c && forallb (step_ok s) (edges s) && forallb (end_ok s c) (nodes s).
Record start := Start { at_ : nat; one : vec; other : vec; by_ : vec }.
Definition dominate (s : system) (c : Q) (ss : list start) : bool :=
  inductive_ok s c && forallb (fun x => covered (one x) (other x) (by_ x) (gens s (at_ x))) ss.
Lemma dot_col u : forall A h, dot u (col A h) == dot (apply u A) h.
Proof. induction u as [|x u IH]; intros [|r A] h; simpl; try reflexivity.
  rewrite Qred_correct, IH, dot_add, dot_scale. reflexivity. Qed.
Lemma dot_nonneg u : forall h, nonneg u = true -> nonneg h = true -> 0 <= dot u h.
Proof. induction u as [|x u IH]; intros [|y h] U H; simpl; try lra.
  rewrite Qred_correct. simpl in U, H. apply andb_true_iff in U. apply andb_true_iff in H. destruct U as [U1 U2], H as [H1 H2].
  apply Qle_bool_iff in U1. apply Qle_bool_iff in H1. specialize (IH h U2 H2).
  assert (0 <= x * y) by (apply Qmult_le_0_compat; assumption). lra. Qed.
Lemma dot_leb u : forall v h, leb u v = true -> nonneg h = true -> dot u h <= dot v h.
Proof. induction u as [|x u IH]; intros v h L H.
  - simpl in *. apply dot_nonneg; assumption.
  - destruct h as [|z h]; [destruct v; simpl; lra|].
    simpl in H. apply andb_true_iff in H. destruct H as [Hz Hh]. apply Qle_bool_iff in Hz.
    destruct v as [|y v]; simpl in L; apply andb_true_iff in L; destruct L as [L1 L2];
      apply Qle_bool_iff in L1; specialize (IH _ h L2 Hh); simpl in *; rewrite !Qred_correct.
    + assert (0 <= (0 - x) * z) by (apply Qmult_le_0_compat; lra).
      assert (dot u h <= 0) by (destruct h; simpl in *; lra).
      assert ((0 - x) * z == - (x * z)) by ring. lra.
    + assert (0 <= (y - x) * z) by (apply Qmult_le_0_compat; lra).
      assert ((y - x) * z == y * z - x * z) by ring. lra. Qed.
Lemma col_nonneg A : forall h, forallb nonneg A = true -> nonneg h = true -> nonneg (col A h) = true.
Proof. induction A as [|r A IH]; intros h HA Hh; simpl; [reflexivity|].
  simpl in HA. apply andb_true_iff in HA. destruct HA as [Hr HA].
  apply andb_true_iff. split; [apply Qle_bool_iff, dot_nonneg; assumption | apply IH; assumption]. Qed.
Lemma comb_bound ks c : forall gs h k, nonneg ks = true ->
  (forall g, In g gs -> dot (fst g) h <= c * dot (snd g) k) ->
  dot (comb ks (map fst gs)) h <= c * dot (comb ks (map snd gs)) k.
Proof. induction ks as [|x ks IH]; intros [|g gs] h k N H; simpl; try lra.
  simpl in N. apply andb_true_iff in N. destruct N as [N1 N2]. apply Qle_bool_iff in N1.
  rewrite !dot_add, !dot_scale.
  pose proof (IH gs h k N2 (fun g' i => H g' (or_intror i))) as I.
  pose proof (H g (or_introl eq_refl)) as Hg.
  assert (0 <= x * (c * dot (snd g) k - dot (fst g) h)) by (apply Qmult_le_0_compat; lra).
  assert (x * (c * dot (snd g) k - dot (fst g) h) == c * (x * dot (snd g) k) - x * dot (fst g) h) by ring.
  assert (c * (x * dot (snd g) k + dot (comb ks (map snd gs)) k)
          == c * (x * dot (snd g) k) + c * dot (comb ks (map snd gs)) k) by ring. lra. Qed.
Lemma covered_bound p q ks gs c h k : 0 <= c -> covered p q ks gs = true ->
  nonneg h = true -> nonneg k = true ->
  (forall g, In g gs -> dot (fst g) h <= c * dot (snd g) k) -> dot p h <= c * dot q k.
Proof. unfold covered. intros C H Hh Hk G. apply andb_true_iff in H. destruct H as [H H3].
  apply andb_true_iff in H. destruct H as [H1 H2].
  pose proof (dot_leb _ _ h H2 Hh). pose proof (dot_leb _ _ k H3 Hk).
  pose proof (comb_bound ks c gs h k H1 G).
  assert (0 <= c * (dot q k - dot (comb ks (map snd gs)) k)) by (apply Qmult_le_0_compat; lra).
  assert (c * (dot q k - dot (comb ks (map snd gs)) k) == c * dot q k - c * dot (comb ks (map snd gs)) k) by ring.
  lra. Qed.
Lemma all2_in {X Y} (ok : X -> Y -> bool) xs : forall ys, all2 ok xs ys = true ->
  forall x, In x xs -> exists y, ok x y = true.
Proof. induction xs as [|x xs IH]; intros [|y ys] H z I; simpl in *; try discriminate; [contradiction|].
  apply andb_true_iff in H. destruct H as [H1 H2]. destruct I as [E|I]; [subst; eauto | eauto]. Qed.
Theorem dominate_sound s c ss : dominate s c ss = true -> forall x, In x ss -> forall w m,
  path s (at_ x) w m -> forall f g, In (f, g) (ends s m) -> dot (one x) (P w f) <= c * dot (other x) (R w g).
Proof. unfold dominate, inductive_ok. intros H x X. repeat (apply andb_true_iff in H; destruct H as [H ?H]).
  rename H into Hc, H2 into Hs, H1 into He, H0 into Ha. apply Qle_bool_iff in Hc.
  rewrite forallb_forall in Ha. specialize (Ha _ X). simpl in Ha.
  rewrite forallb_forall in Hs, He.
  assert (K : forall n w m, path s n w m -> forall f k, In (f, k) (ends s m) ->
    nonneg (P w f) = true /\ nonneg (R w k) = true /\
    forall g, In g (gens s n) -> dot (fst g) (P w f) <= c * dot (snd g) (R w k)).
  { intros n' w m W. induction W as [n' I | t w m It Is W IH]; intros f k E.
    - specialize (He _ I). unfold end_ok in He. rewrite forallb_forall in He. specialize (He _ E). simpl in He.
      repeat (apply andb_true_iff in He; destruct He as [He ?H]).
      simpl. repeat split; try assumption. rewrite forallb_forall in H. intros g Ig.
      apply Qle_bool_iff, H, Ig.
    - destruct (IH f k E) as [N1 [N2 G]]. pose proof (Hs _ It) as S. unfold step_ok in S.
      repeat (apply andb_true_iff in S; destruct S as [S ?H]).
      simpl. repeat split; try (apply col_nonneg; assumption).
      intros g Ig. destruct (all2_in _ _ _ H _ Ig) as [l Hl].
      rewrite !dot_col. eapply covered_bound; eassumption. }
  intros w m W f k E. destruct (K _ _ _ W f k E) as [N1 [N2 G]]. eapply covered_bound; eassumption. Qed.

Print Assumptions dominate_sound.

// A fair die from fair coins.
// D. Knuth and A. Yao, The complexity of nonuniform random number generation, 1976.
dtmc

module die
  s : [0..7] init 0;  // where the flips have led
  d : [0..6] init 0;  // the number shown, 0 before the end

  [] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [] s=1 -> 0.5 : (s'=3) + 0.5 : (s'=4);
  [] s=2 -> 0.5 : (s'=5) + 0.5 : (s'=6);
  [] s=3 -> 0.5 : (s'=1) + 0.5 : (s'=7) & (d'=1);
  [] s=4 -> 0.5 : (s'=7) & (d'=2) + 0.5 : (s'=7) & (d'=3);
  [] s=5 -> 0.5 : (s'=7) & (d'=4) + 0.5 : (s'=7) & (d'=5);
  [] s=6 -> 0.5 : (s'=2) + 0.5 : (s'=7) & (d'=6);
  [] s=7 -> true;
endmodule

rewards "flips"
  [] s<7 : 1;
endrewards

label "done" = s=7;
label "six" = s=7 & d=6;

// A ring of three processes that agrees by itself on who holds the one token.
// T. Herman, Probabilistic self-stabilization, 1990.
// A process holds a token where its bit is that of its left neighbour; all move at once.
dtmc

const double p = 0.5;

module process1
  x1 : [0..1];
  [step] x1=x3 -> p : (x1'=0) + 1-p : (x1'=1);
  [step] x1!=x3 -> (x1'=x3);
endmodule

module process2 = process1 [ x1=x2, x3=x1 ] endmodule
module process3 = process1 [ x1=x3, x3=x2 ] endmodule

init true endinit

formula tokens = (x1=x2 ? 1 : 0) + (x2=x3 ? 1 : 0) + (x3=x1 ? 1 : 0);
label "stable" = tokens=1;

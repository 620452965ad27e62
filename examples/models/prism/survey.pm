// Randomised response: each of N people is asked the same question, and each says the truth with probability 3/4.
// S. Warner, Randomized response: a survey technique for eliminating evasive answer bias, 1965.
// The truth differs in what one person would say: that is what an onlooker must not learn.
dtmc

const int N = 2;
const double truth = 3/4;

module survey
  yes : [0..N];       // how many would truly say yes
  asked : [0..N];     // how many have been asked
  heard : [0..N];     // how many have said yes

  // those who would say yes are asked first
  [] asked<yes -> truth : (asked'=asked+1) & (heard'=heard+1) + 1-truth : (asked'=asked+1);
  [] asked>=yes & asked<N -> 1-truth : (asked'=asked+1) & (heard'=heard+1) + truth : (asked'=asked+1);
  [] asked=N -> true;
endmodule

init asked=0 & heard=0 endinit

label "done" = asked=N;
label "none" = asked=N & heard=0;
label "all" = asked=N & heard=N;

//@ neighbours asked=0 & yes=0 ~ asked=0 & yes=1
//@ neighbours asked=0 & yes=1 ~ asked=0 & yes=2

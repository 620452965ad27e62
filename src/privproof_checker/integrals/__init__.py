"""The integrators of the checker: probabilities of linear inequalities between independent noises.

`regions`, `elimination` and `probabilities`: Laplace and exponential noises, and geometric ones, exactly or in balls; `orders`: Gumbel
noises; `normal`, `strips` and `panels`: Gaussian noises, in balls, also beside others; `whole` and `compared`: discrete Gaussian noises;
`gaps`: which differences there are.
"""

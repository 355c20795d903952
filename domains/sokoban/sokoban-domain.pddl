; Sokoban. A box has no name: the state says which cells hold one.
; The directions are constants, so that an action's direction is given, not invented.
(define (domain sokoban)
  (:requirements :strips :typing)
  (:types cell direction)
  (:constants up down left right - direction)
  (:predicates
    (adjacent ?from ?to - cell ?d - direction)  ; from `from`, one step in direction `d` is `to`
    (player-at ?c - cell)
    (box-at ?c - cell)
    (clear ?c - cell))                          ; neither the player nor a box is on it

  (:action move
    :parameters (?from ?to - cell ?d - direction)
    :precondition (and (player-at ?from) (clear ?to) (adjacent ?from ?to ?d))
    :effect (and (player-at ?to) (not (player-at ?from))
                 (clear ?from) (not (clear ?to))))

  (:action push
    :parameters (?from ?box ?to - cell ?d - direction)
    :precondition (and (player-at ?from) (box-at ?box) (clear ?to)
                       (adjacent ?from ?box ?d) (adjacent ?box ?to ?d))
    :effect (and (player-at ?box) (not (player-at ?from))
                 (box-at ?to) (not (box-at ?box))
                 (clear ?from) (not (clear ?to)))))

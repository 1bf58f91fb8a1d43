! A Fortran program: arguments by address, bounds that are not 0, strings, module variables; prints what they came to.
module shapes
  implicit none
  type point
    integer :: x
    real(8) :: y
    character(len=5) :: name
  end type
  type, extends(point) :: place
    integer :: floor
  end type
  integer :: counter = 7
  integer, parameter :: answer = 42
  integer, allocatable :: grid(:,:), none(:)
contains
  subroutine move(p, n, a, b, m, word, flag, z)
    type(point), intent(inout) :: p
    integer, intent(in) :: n
    integer, intent(in) :: a(n)
    real(8), intent(in) :: b(:)
    integer, intent(in) :: m(2:3, -1:1)
    character(len=*), intent(in) :: word
    logical, intent(in) :: flag
    complex(8), intent(in) :: z
    integer :: local(4)
    local = a(1:4)
    local(2) = local(2) + m(2, -1)
    p%x = p%x + sum(local) + int(b(2)) + len(word)
    counter = counter + 1
  end subroutine
  subroutine weigh(n, v, w)
    integer, intent(in) :: n
    real(8), intent(in) :: v(n, *)
    integer, intent(in) :: w(:)
    common /scales/ load, parts, label
    integer :: load
    integer :: parts(3)
    character(len=6) :: label
    load = load + int(v(2,3)) + n + w(1)  ! LINE:weigh
  end subroutine
  subroutine climb(from, n)
    type(place), intent(inout) :: from
    integer, intent(in) :: n
    from%floor = from%floor + n
    from%x = from%x + 1
  end subroutine
  integer function twice(n)
    integer, value :: n
    twice = n * 2
  end function
end module
program main
  use shapes
  implicit none
  type(point) :: p
  type(place) :: there
  integer :: a(6), m(2:3,-1:1), i
  common /scales/ load, parts, label
  integer :: load, parts(3)
  character(len=6) :: label
  real(8), allocatable :: b(:)
  p = point(1, 2.5d0, "fives")
  a = [(i * 10, i = 1, 6)]
  m = reshape([1,2,3,4,5,6], [2,3])
  allocate(b(3))
  b = [0.5d0, 1.5d0, 2.5d0]
  do i = 1, 3
    call move(p, i + 3, a, b, m, "hello", .true., (1.0d0, -2.0d0))
  end do
  there = place(5, 1.5d0, "tower", 3)
  do i = 1, 2
    call climb(there, 10)
  end do
  load = 11
  parts = [1, 2, 3]
  label = "common"
  allocate(grid(2,3))
  grid = m
  do i = 1, 2
    call weigh(2, reshape([1d0, 2d0, 3d0, 4d0, 5d0, 6d0], [2,3]), a(1:6:2))
  end do
  print '(a,i0)', "load: ", load
  print '(a,i0)', "x: ", p%x
  print '(a,i0)', "counter: ", counter
  print '(a,i0)', "floor: ", there%floor + there%x
  print '(a,i0)', "twice: ", twice(21)
end program
! SPDX-License-Identifier: Apache-2.0

! Values of every kind that Fortran has: kinds of numbers, strings and arrays of all bounds, components that are allocated.
module books
  implicit none
  integer, parameter :: wide = selected_int_kind(18)
  type entry
    integer :: id
    character(len=4) :: code
    real(8) :: rates(2)
  end type
  type, extends(entry) :: account
    logical :: open
    integer, allocatable :: history(:)
    type(entry), pointer :: next
  end type
  integer :: shared(-2:1) = [4, 3, 2, 1]
  real(8), allocatable :: table(:, :)
  character(len=:), allocatable :: title
contains
  subroutine scalars(i1, i2, i4, i8, r4, r8, l1, l4, z4, z8, c1, name, byval, absent)
    integer(1), intent(in) :: i1
    integer(2), intent(in) :: i2
    integer, intent(in) :: i4
    integer(wide), intent(in) :: i8
    real, intent(in) :: r4
    real(8), intent(in) :: r8
    logical(1), intent(in) :: l1
    logical, intent(in) :: l4
    complex, intent(in) :: z4
    complex(8), intent(in) :: z8
    character, intent(in) :: c1
    character(len=*), intent(in) :: name
    integer, value :: byval
    integer, intent(in), optional :: absent
    integer :: sum
    sum = i1 + i2 + i4 + int(i8) + int(r4) + int(r8) + int(z4) + int(z8) + len(name) + byval
    if (l1 .and. l4 .and. c1 == 'q' .and. .not. present(absent)) sum = sum + 1
    print '(a,i0)', "scalars: ", sum  ! LINE:scalars
  end subroutine
  subroutine arrays(n, fixed, below, sized, shape, moved, words, turned, cells)
    integer, intent(in) :: n
    integer, intent(in) :: fixed(3)
    integer, intent(in) :: below(-1:n)
    integer, intent(in) :: sized(n, *)
    real(8), intent(in) :: shape(:)
    integer, intent(in) :: moved(-3:)
    character(len=*), intent(in) :: words(:)
    integer, intent(in) :: turned(:, :)
    type(entry), intent(in) :: cells(2)
    integer :: own(n)
    logical :: truth(2)
    own = below(1:n) + sized(1, 2)
    truth = [.true., .false.]
    print '(a,i0)', "arrays: ", sum(fixed) + own(2) + int(shape(2)) + moved(-2) + len(words) + turned(2, 1) + cells(2)%id  ! LINE:arrays
  end subroutine
  subroutine objects(e, a, heap, view, none, deferred)
    type(entry), intent(in) :: e
    type(account), intent(inout) :: a
    integer, allocatable, intent(in) :: heap(:, :)
    real(8), pointer, intent(in) :: view(:)
    integer, allocatable, intent(in) :: none(:)
    character(len=:), allocatable, intent(in) :: deferred
    integer, allocatable :: single
    integer, pointer :: into
    integer, target :: place
    place = 9
    into => place
    allocate(single, source=3)
    a%id = a%id + into + single
    print '(a,i0)', "objects: ", e%id + a%id + heap(0, 2) + int(view(2)) + len(deferred)  ! LINE:objects
  end subroutine
  integer function via(n) bind(c, name="by_another_name")
    integer, value :: n
    via = inside(n)
  contains
    integer function inside(m)
      integer, intent(in) :: m
      inside = m + 1
    end function
  end function
end module
subroutine single(k)
  integer, intent(inout) :: k
  k = k + 1
end subroutine
program ledger
  use books
  implicit none
  type(entry), target :: e
  type(account) :: a
  integer :: i, k
  integer :: below(-1:3), grid(2, 3)
  integer, allocatable :: heap(:, :), none(:)
  real(8), target :: rates(6)
  real(8), pointer :: view(:)
  character(len=3) :: words(2)
  character(len=:), allocatable :: text
  e = entry(7, "abcd", [0.5d0, 0.25d0])
  a%entry = entry(8, "wxyz", [1.5d0, 2.5d0])
  a%open = .true.
  allocate(a%history(3))
  a%history = [1, 2, 3]
  a%next => e
  below = [1, 2, 3, 4, 5]
  grid = reshape([1, 2, 3, 4, 5, 6], [2, 3])
  allocate(heap(0:1, 2:4))
  heap = grid
  rates = [(i * 0.5d0, i = 1, 6)]
  view => rates(2:6:2)
  words = ["one", "two"]
  text = "deferred"
  title = "ledger"
  allocate(table(2, 2))
  table = reshape([1d0, 2d0, 3d0, 4d0], [2, 2])
  k = 0
  do i = 1, 2
    call scalars(-5_1, 300_2, 70000, 5000000000_wide, 1.5, -2.25d0, .true._1, .true., (1.0, -2.0), (0.5d0, 3.0d0), &
                 'q', "a name", 42)
    call arrays(3, [9, 8, 7], below, reshape([1, 2, 3, 4, 5, 6], [3, 2]), rates(1:6:2), below(0:2), words, &
                grid(:, 3:1:-1), [e, a%entry])
    call objects(e, a, heap, view, none, text)
    call single(k)
  end do
  print '(a,i0)', "via: ", via(k)
end program
! SPDX-License-Identifier: Apache-2.0

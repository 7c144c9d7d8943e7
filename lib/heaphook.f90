! SPDX-License-Identifier: Apache-2.0
! What a Fortran program can say to heaphook; heaphook.h says it for C.
! Compile it with the program: module files fit one compiler only.  Nothing
! needs to be linked; without a heaphook library in the process the calls do
! nothing.
module heaphook
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: heaphook_stats, heaphook_get_stats, heaphook_mark, &
            heaphook_pause, heaphook_resume

  type, bind(c) :: heaphook_stats
    integer(c_int64_t) :: allocations, frees, failed
    integer(c_int64_t) :: live_bytes, peak_bytes        ! usable bytes
    integer(c_int64_t) :: pool_bytes, pool_used_bytes   ! 0 without a pool
    integer(c_int64_t) :: pool_largest_free_bytes, pool_growths
  end type heaphook_stats

  abstract interface
    integer(c_int) function get_stats_type(out, size) bind(c)
      import :: c_int, c_size_t, heaphook_stats
      type(heaphook_stats), intent(out) :: out
      integer(c_size_t), value :: size
    end function get_stats_type
    subroutine mark_type(label) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: label(*)
    end subroutine mark_type
    subroutine plain_type() bind(c)
    end subroutine plain_type
  end interface

  interface
    type(c_funptr) function dlsym(handle, name) bind(c, name="dlsym")
      import :: c_funptr, c_ptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
    end function dlsym
  end interface

contains

  ! The function of a library that is in the process, or null.
  type(c_funptr) function find(name)
    character(len=*), intent(in) :: name
    find = dlsym(c_null_ptr, name // c_null_char)
  end function find

  ! 0, or -1 when nothing is preloaded.
  integer function heaphook_get_stats(out)
    type(heaphook_stats), intent(out) :: out
    procedure(get_stats_type), pointer :: call_it
    type(c_funptr) :: found
    found = find("heaphook_get_stats")
    heaphook_get_stats = -1
    if (.not. c_associated(found)) return
    call c_f_procpointer(found, call_it)
    heaphook_get_stats = call_it(out, c_sizeof(out))
  end function heaphook_get_stats

  ! A named instant: a phase of the program begins.
  subroutine heaphook_mark(label)
    character(len=*), intent(in) :: label
    procedure(mark_type), pointer :: call_it
    type(c_funptr) :: found
    found = find("heaphook_mark")
    if (.not. c_associated(found)) return
    call c_f_procpointer(found, call_it)
    call call_it(trim(label) // c_null_char)
  end subroutine heaphook_mark

  subroutine heaphook_pause()
    call call_plain("heaphook_pause")
  end subroutine heaphook_pause

  subroutine heaphook_resume()
    call call_plain("heaphook_resume")
  end subroutine heaphook_resume

  subroutine call_plain(name)
    character(len=*), intent(in) :: name
    procedure(plain_type), pointer :: call_it
    type(c_funptr) :: found
    found = find(name)
    if (.not. c_associated(found)) return
    call c_f_procpointer(found, call_it)
    call call_it()
  end subroutine call_plain
end module heaphook

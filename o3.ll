; ModuleID = '/tmp/mb/m4.ll'
source_filename = "djtap"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%"struct.dj::abi::Pair" = type { i64, i64 }

@dj_has_rseq = hidden local_unnamed_addr constant i32 1
@dj_arena_base = hidden local_unnamed_addr constant i64 2082787328

; Function Attrs: noimplicitfloat noredzone nounwind
define hidden preserve_mostcc void @dj_handler_0(i64 %0, i64 %1, i64 %2, i64 %3, i64 %4, i64 %5, i64 %6) local_unnamed_addr #0 {
entry:
  %words3 = alloca i64, align 8
  %words1 = alloca [2 x i64], align 8
  %old = alloca i64, align 8
  %words = alloca [2 x i64], align 8
  %7 = trunc i64 %6 to i32
  %8 = tail call i64 @dj_pid()
  store i64 %8, ptr %words, align 8
  %9 = getelementptr inbounds i8, ptr %words, i64 8
  store i64 0, ptr %9, align 8
  call fastcc void @dj_map_update(ptr nonnull %words, ptr nonnull %old)
  %10 = load i64, ptr inttoptr (i64 2082787536 to ptr), align 16, !tbaa !5
  %11 = icmp eq i64 %10, 0
  br i1 %11, label %14, label %12, !prof !12

12:                                               ; preds = %entry
  %13 = call preserve_mostcc i32 @dj_told_thread_id() #7
  br label %dj_tid.exit

14:                                               ; preds = %entry
  %15 = call noundef i32 asm sideeffect "movl %fs:dj_rseq+4, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !13
  %16 = icmp slt i32 %15, 0
  br i1 %16, label %35, label %17

17:                                               ; preds = %14
  %18 = load i64, ptr inttoptr (i64 2082787464 to ptr), align 8, !tbaa !14
  %19 = icmp eq i64 %18, 0
  br i1 %19, label %35, label %20, !prof !15

20:                                               ; preds = %17
  %21 = inttoptr i64 %18 to ptr
  %22 = call noundef i64 asm sideeffect "movq %fs:0, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !16
  %23 = lshr i64 %22, 6
  %24 = mul i64 %23, -7046029254386353131
  %25 = lshr i64 %24, 53
  %26 = getelementptr inbounds [2048 x i64], ptr %21, i64 0, i64 %25
  %27 = load atomic i64, ptr %26 acquire, align 8
  %28 = trunc i64 %27 to i32
  %29 = and i32 %28, 4194303
  %30 = lshr i64 %27, 22
  %31 = call i64 @llvm.fshl.i64(i64 %22, i64 %22, i64 58)
  %32 = icmp eq i64 %30, %31
  %33 = icmp ne i32 %29, 0
  %34 = and i1 %32, %33
  br i1 %34, label %dj_tid.exit, label %35, !prof !12

35:                                               ; preds = %20, %17, %14
  %36 = call preserve_mostcc i32 @dj_ask_thread_id() #7
  br label %dj_tid.exit

dj_tid.exit:                                      ; preds = %12, %20, %35
  %37 = phi i32 [ %13, %12 ], [ %29, %20 ], [ %36, %35 ]
  %38 = zext i32 %37 to i64
  call fastcc void @dj_stat_add(i64 %38)
  %39 = call i64 @dj_pid()
  store i64 %39, ptr %words1, align 8
  %40 = getelementptr inbounds i8, ptr %words1, i64 8
  store i64 0, ptr %40, align 8
  %41 = call fastcc i64 @dj_map_get(ptr nonnull %words1)
  %42 = icmp sgt i64 %41, 100000000
  br i1 %42, label %then, label %fi

then:                                             ; preds = %dj_tid.exit
  %43 = load i64, ptr inttoptr (i64 2082787536 to ptr), align 16, !tbaa !5
  %44 = icmp eq i64 %43, 0
  br i1 %44, label %47, label %45, !prof !12

45:                                               ; preds = %then
  %46 = call preserve_mostcc i32 @dj_told_thread_id() #7
  br label %dj_tid.exit1

47:                                               ; preds = %then
  %48 = call noundef i32 asm sideeffect "movl %fs:dj_rseq+4, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !13
  %49 = icmp slt i32 %48, 0
  br i1 %49, label %68, label %50

50:                                               ; preds = %47
  %51 = load i64, ptr inttoptr (i64 2082787464 to ptr), align 8, !tbaa !14
  %52 = icmp eq i64 %51, 0
  br i1 %52, label %68, label %53, !prof !15

53:                                               ; preds = %50
  %54 = inttoptr i64 %51 to ptr
  %55 = call noundef i64 asm sideeffect "movq %fs:0, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !16
  %56 = lshr i64 %55, 6
  %57 = mul i64 %56, -7046029254386353131
  %58 = lshr i64 %57, 53
  %59 = getelementptr inbounds [2048 x i64], ptr %54, i64 0, i64 %58
  %60 = load atomic i64, ptr %59 acquire, align 8
  %61 = trunc i64 %60 to i32
  %62 = and i32 %61, 4194303
  %63 = lshr i64 %60, 22
  %64 = call i64 @llvm.fshl.i64(i64 %55, i64 %55, i64 58)
  %65 = icmp eq i64 %63, %64
  %66 = icmp ne i32 %62, 0
  %67 = and i1 %65, %66
  br i1 %67, label %dj_tid.exit1, label %68, !prof !12

68:                                               ; preds = %53, %50, %47
  %69 = call preserve_mostcc i32 @dj_ask_thread_id() #7
  br label %dj_tid.exit1

dj_tid.exit1:                                     ; preds = %45, %53, %68
  %70 = phi i32 [ %46, %45 ], [ %62, %53 ], [ %69, %68 ]
  %71 = zext i32 %70 to i64
  %72 = load i64, ptr inttoptr (i64 2082787376 to ptr), align 16, !tbaa !17
  %73 = load i32, ptr inttoptr (i64 2082787340 to ptr), align 4, !tbaa !18
  %74 = call noundef i32 asm sideeffect "movl %fs:dj_rseq+4, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !19
  %75 = call i32 @llvm.umin.i32(i32 %74, i32 %73)
  %76 = zext i32 %75 to i64
  %77 = load i64, ptr inttoptr (i64 2082787384 to ptr), align 8, !tbaa !20
  %78 = mul i64 %77, %76
  %79 = add i64 %78, %72
  %80 = inttoptr i64 %79 to ptr
  %81 = call { i32, i32 } asm sideeffect "rdtsc", "={ax},={dx},~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !21
  %82 = extractvalue { i32, i32 } %81, 0
  %83 = extractvalue { i32, i32 } %81, 1
  %84 = zext i32 %83 to i64
  %85 = shl nuw i64 %84, 32
  %86 = zext i32 %82 to i64
  %87 = or disjoint i64 %85, %86
  %88 = getelementptr inbounds i8, ptr %80, i64 136
  %89 = load i64, ptr %88, align 8, !tbaa !22
  %90 = icmp ult i64 %89, 128
  br i1 %90, label %_ZN2dj5agent6Record4openEmNS_3abi9EventKindEj.exit.i, label %91

91:                                               ; preds = %dj_tid.exit1
  %92 = getelementptr inbounds i8, ptr %80, i64 128
  br label %93

93:                                               ; preds = %107, %91
  %94 = load atomic i64, ptr %80 acquire, align 8
  %95 = load i64, ptr %88, align 8, !tbaa !22
  %96 = add i64 %95, -1
  %97 = and i64 %96, %94
  %98 = sub i64 %95, %97
  %99 = icmp ult i64 %98, 64
  %100 = select i1 %99, i64 %98, i64 0
  %101 = add i64 %100, %94
  %102 = add i64 %101, 64
  %103 = load atomic i64, ptr %92 acquire, align 8
  %104 = sub i64 %102, %103
  %105 = load i64, ptr %88, align 8, !tbaa !22
  %106 = icmp ugt i64 %104, %105
  br i1 %106, label %_ZN2dj5agent6Record4openEmNS_3abi9EventKindEj.exit.i, label %107

107:                                              ; preds = %93
  %108 = cmpxchg ptr %80, i64 %94, i64 %102 seq_cst seq_cst, align 8
  %109 = extractvalue { i64, i1 } %108, 1
  br i1 %109, label %110, label %93, !llvm.loop !24

110:                                              ; preds = %107
  %111 = icmp eq i64 %100, 0
  br i1 %111, label %123, label %112

112:                                              ; preds = %110
  %113 = getelementptr inbounds i8, ptr %80, i64 256
  %114 = load i64, ptr %88, align 8, !tbaa !22
  %115 = add i64 %114, -1
  %116 = and i64 %115, %94
  %117 = getelementptr inbounds i8, ptr %113, i64 %116
  %118 = trunc i64 %100 to i32
  %119 = getelementptr inbounds i8, ptr %117, i64 16
  store i32 %118, ptr %119, align 8, !tbaa !26
  %120 = getelementptr inbounds i8, ptr %117, i64 20
  store i16 0, ptr %120, align 4, !tbaa !29
  %121 = add i64 %94, 1
  store atomic i64 %121, ptr %117 release, align 8
  br label %123

_ZN2dj5agent6Record4openEmNS_3abi9EventKindEj.exit.i: ; preds = %93, %dj_tid.exit1
  %122 = atomicrmw add ptr inttoptr (i64 2082787600 to ptr), i64 1 seq_cst, align 8
  br label %fi

123:                                              ; preds = %112, %110
  %124 = getelementptr inbounds i8, ptr %80, i64 256
  %125 = load i64, ptr %88, align 8, !tbaa !22
  %126 = add i64 %125, -1
  %127 = and i64 %126, %101
  %128 = getelementptr inbounds i8, ptr %124, i64 %127
  %129 = getelementptr inbounds i8, ptr %128, i64 8
  store i64 %87, ptr %129, align 8, !tbaa !30
  %130 = getelementptr inbounds i8, ptr %128, i64 16
  store i32 64, ptr %130, align 8, !tbaa !26
  %131 = getelementptr inbounds i8, ptr %128, i64 20
  store i16 1, ptr %131, align 4, !tbaa !29
  %132 = getelementptr inbounds i8, ptr %128, i64 22
  %133 = getelementptr inbounds i8, ptr %128, i64 24
  %134 = getelementptr inbounds i8, ptr %128, i64 28
  store i32 %7, ptr %134, align 4, !tbaa !31
  store i32 0, ptr %133, align 8, !tbaa !32
  store i16 1, ptr %132, align 2, !tbaa !33
  %135 = getelementptr inbounds i8, ptr %128, i64 32
  store i64 %71, ptr %135, align 8, !tbaa !34
  %136 = add i64 %101, 1
  store atomic i64 %136, ptr %128 release, align 8
  br label %fi

fi:                                               ; preds = %123, %_ZN2dj5agent6Record4openEmNS_3abi9EventKindEj.exit.i, %dj_tid.exit
  %137 = call ptr @dj_probefunc(i32 %7)
  %138 = ptrtoint ptr %137 to i64
  %139 = load i64, ptr inttoptr (i64 2087452864 to ptr), align 64, !invariant.load !35
  %140 = icmp eq ptr %137, null
  %141 = select i1 %140, i64 %139, i64 %138
  store i64 %141, ptr %words3, align 8
  call fastcc void @dj_map_stat_add(ptr nonnull %words3, i64 0)
  ret void
}

; Function Attrs: nounwind
declare hidden i64 @dj_pid() local_unnamed_addr #1

; Function Attrs: nounwind
declare hidden ptr @dj_probefunc(i32) local_unnamed_addr #1

; Function Attrs: noimplicitfloat noredzone nounwind
define hidden preserve_mostcc void @dj_handler_1(i64 %0, i64 %1, i64 %2, i64 %3, i64 %4, i64 %5, i64 %6) local_unnamed_addr #0 {
entry:
  %words3 = alloca i64, align 8
  %words1 = alloca [2 x i64], align 8
  %old = alloca i64, align 8
  %words = alloca [2 x i64], align 8
  %7 = trunc i64 %6 to i32
  %8 = tail call i64 @dj_pid()
  store i64 %8, ptr %words, align 8
  %9 = getelementptr inbounds i8, ptr %words, i64 8
  store i64 1, ptr %9, align 8
  call fastcc void @dj_map_update(ptr nonnull %words, ptr nonnull %old)
  %10 = load i64, ptr inttoptr (i64 2082787536 to ptr), align 16, !tbaa !5
  %11 = icmp eq i64 %10, 0
  br i1 %11, label %14, label %12, !prof !12

12:                                               ; preds = %entry
  %13 = call preserve_mostcc i32 @dj_told_thread_id() #7
  br label %dj_tid.exit

14:                                               ; preds = %entry
  %15 = call noundef i32 asm sideeffect "movl %fs:dj_rseq+4, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !13
  %16 = icmp slt i32 %15, 0
  br i1 %16, label %35, label %17

17:                                               ; preds = %14
  %18 = load i64, ptr inttoptr (i64 2082787464 to ptr), align 8, !tbaa !14
  %19 = icmp eq i64 %18, 0
  br i1 %19, label %35, label %20, !prof !15

20:                                               ; preds = %17
  %21 = inttoptr i64 %18 to ptr
  %22 = call noundef i64 asm sideeffect "movq %fs:0, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !16
  %23 = lshr i64 %22, 6
  %24 = mul i64 %23, -7046029254386353131
  %25 = lshr i64 %24, 53
  %26 = getelementptr inbounds [2048 x i64], ptr %21, i64 0, i64 %25
  %27 = load atomic i64, ptr %26 acquire, align 8
  %28 = trunc i64 %27 to i32
  %29 = and i32 %28, 4194303
  %30 = lshr i64 %27, 22
  %31 = call i64 @llvm.fshl.i64(i64 %22, i64 %22, i64 58)
  %32 = icmp eq i64 %30, %31
  %33 = icmp ne i32 %29, 0
  %34 = and i1 %32, %33
  br i1 %34, label %dj_tid.exit, label %35, !prof !12

35:                                               ; preds = %20, %17, %14
  %36 = call preserve_mostcc i32 @dj_ask_thread_id() #7
  br label %dj_tid.exit

dj_tid.exit:                                      ; preds = %12, %20, %35
  %37 = phi i32 [ %13, %12 ], [ %29, %20 ], [ %36, %35 ]
  %38 = zext i32 %37 to i64
  call fastcc void @dj_stat_add(i64 %38)
  %39 = call i64 @dj_pid()
  store i64 %39, ptr %words1, align 8
  %40 = getelementptr inbounds i8, ptr %words1, i64 8
  store i64 1, ptr %40, align 8
  %41 = call fastcc i64 @dj_map_get(ptr nonnull %words1)
  %42 = icmp sgt i64 %41, 100000000
  br i1 %42, label %then, label %fi

then:                                             ; preds = %dj_tid.exit
  %43 = load i64, ptr inttoptr (i64 2082787536 to ptr), align 16, !tbaa !5
  %44 = icmp eq i64 %43, 0
  br i1 %44, label %47, label %45, !prof !12

45:                                               ; preds = %then
  %46 = call preserve_mostcc i32 @dj_told_thread_id() #7
  br label %dj_tid.exit1

47:                                               ; preds = %then
  %48 = call noundef i32 asm sideeffect "movl %fs:dj_rseq+4, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !13
  %49 = icmp slt i32 %48, 0
  br i1 %49, label %68, label %50

50:                                               ; preds = %47
  %51 = load i64, ptr inttoptr (i64 2082787464 to ptr), align 8, !tbaa !14
  %52 = icmp eq i64 %51, 0
  br i1 %52, label %68, label %53, !prof !15

53:                                               ; preds = %50
  %54 = inttoptr i64 %51 to ptr
  %55 = call noundef i64 asm sideeffect "movq %fs:0, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !16
  %56 = lshr i64 %55, 6
  %57 = mul i64 %56, -7046029254386353131
  %58 = lshr i64 %57, 53
  %59 = getelementptr inbounds [2048 x i64], ptr %54, i64 0, i64 %58
  %60 = load atomic i64, ptr %59 acquire, align 8
  %61 = trunc i64 %60 to i32
  %62 = and i32 %61, 4194303
  %63 = lshr i64 %60, 22
  %64 = call i64 @llvm.fshl.i64(i64 %55, i64 %55, i64 58)
  %65 = icmp eq i64 %63, %64
  %66 = icmp ne i32 %62, 0
  %67 = and i1 %65, %66
  br i1 %67, label %dj_tid.exit1, label %68, !prof !12

68:                                               ; preds = %53, %50, %47
  %69 = call preserve_mostcc i32 @dj_ask_thread_id() #7
  br label %dj_tid.exit1

dj_tid.exit1:                                     ; preds = %45, %53, %68
  %70 = phi i32 [ %46, %45 ], [ %62, %53 ], [ %69, %68 ]
  %71 = zext i32 %70 to i64
  %72 = load i64, ptr inttoptr (i64 2082787376 to ptr), align 16, !tbaa !17
  %73 = load i32, ptr inttoptr (i64 2082787340 to ptr), align 4, !tbaa !18
  %74 = call noundef i32 asm sideeffect "movl %fs:dj_rseq+4, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !19
  %75 = call i32 @llvm.umin.i32(i32 %74, i32 %73)
  %76 = zext i32 %75 to i64
  %77 = load i64, ptr inttoptr (i64 2082787384 to ptr), align 8, !tbaa !20
  %78 = mul i64 %77, %76
  %79 = add i64 %78, %72
  %80 = inttoptr i64 %79 to ptr
  %81 = call { i32, i32 } asm sideeffect "rdtsc", "={ax},={dx},~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !21
  %82 = extractvalue { i32, i32 } %81, 0
  %83 = extractvalue { i32, i32 } %81, 1
  %84 = zext i32 %83 to i64
  %85 = shl nuw i64 %84, 32
  %86 = zext i32 %82 to i64
  %87 = or disjoint i64 %85, %86
  %88 = getelementptr inbounds i8, ptr %80, i64 136
  %89 = load i64, ptr %88, align 8, !tbaa !22
  %90 = icmp ult i64 %89, 128
  br i1 %90, label %_ZN2dj5agent6Record4openEmNS_3abi9EventKindEj.exit.i, label %91

91:                                               ; preds = %dj_tid.exit1
  %92 = getelementptr inbounds i8, ptr %80, i64 128
  br label %93

93:                                               ; preds = %107, %91
  %94 = load atomic i64, ptr %80 acquire, align 8
  %95 = load i64, ptr %88, align 8, !tbaa !22
  %96 = add i64 %95, -1
  %97 = and i64 %96, %94
  %98 = sub i64 %95, %97
  %99 = icmp ult i64 %98, 64
  %100 = select i1 %99, i64 %98, i64 0
  %101 = add i64 %100, %94
  %102 = add i64 %101, 64
  %103 = load atomic i64, ptr %92 acquire, align 8
  %104 = sub i64 %102, %103
  %105 = load i64, ptr %88, align 8, !tbaa !22
  %106 = icmp ugt i64 %104, %105
  br i1 %106, label %_ZN2dj5agent6Record4openEmNS_3abi9EventKindEj.exit.i, label %107

107:                                              ; preds = %93
  %108 = cmpxchg ptr %80, i64 %94, i64 %102 seq_cst seq_cst, align 8
  %109 = extractvalue { i64, i1 } %108, 1
  br i1 %109, label %110, label %93, !llvm.loop !24

110:                                              ; preds = %107
  %111 = icmp eq i64 %100, 0
  br i1 %111, label %123, label %112

112:                                              ; preds = %110
  %113 = getelementptr inbounds i8, ptr %80, i64 256
  %114 = load i64, ptr %88, align 8, !tbaa !22
  %115 = add i64 %114, -1
  %116 = and i64 %115, %94
  %117 = getelementptr inbounds i8, ptr %113, i64 %116
  %118 = trunc i64 %100 to i32
  %119 = getelementptr inbounds i8, ptr %117, i64 16
  store i32 %118, ptr %119, align 8, !tbaa !26
  %120 = getelementptr inbounds i8, ptr %117, i64 20
  store i16 0, ptr %120, align 4, !tbaa !29
  %121 = add i64 %94, 1
  store atomic i64 %121, ptr %117 release, align 8
  br label %123

_ZN2dj5agent6Record4openEmNS_3abi9EventKindEj.exit.i: ; preds = %93, %dj_tid.exit1
  %122 = atomicrmw add ptr inttoptr (i64 2082787600 to ptr), i64 1 seq_cst, align 8
  br label %fi

123:                                              ; preds = %112, %110
  %124 = getelementptr inbounds i8, ptr %80, i64 256
  %125 = load i64, ptr %88, align 8, !tbaa !22
  %126 = add i64 %125, -1
  %127 = and i64 %126, %101
  %128 = getelementptr inbounds i8, ptr %124, i64 %127
  %129 = getelementptr inbounds i8, ptr %128, i64 8
  store i64 %87, ptr %129, align 8, !tbaa !30
  %130 = getelementptr inbounds i8, ptr %128, i64 16
  store i32 64, ptr %130, align 8, !tbaa !26
  %131 = getelementptr inbounds i8, ptr %128, i64 20
  store i16 1, ptr %131, align 4, !tbaa !29
  %132 = getelementptr inbounds i8, ptr %128, i64 22
  %133 = getelementptr inbounds i8, ptr %128, i64 24
  %134 = getelementptr inbounds i8, ptr %128, i64 28
  store i32 %7, ptr %134, align 4, !tbaa !31
  store i32 1, ptr %133, align 8, !tbaa !32
  store i16 1, ptr %132, align 2, !tbaa !33
  %135 = getelementptr inbounds i8, ptr %128, i64 32
  store i64 %71, ptr %135, align 8, !tbaa !34
  %136 = add i64 %101, 1
  store atomic i64 %136, ptr %128 release, align 8
  br label %fi

fi:                                               ; preds = %123, %_ZN2dj5agent6Record4openEmNS_3abi9EventKindEj.exit.i, %dj_tid.exit
  %137 = call ptr @dj_probefunc(i32 %7)
  %138 = ptrtoint ptr %137 to i64
  %139 = load i64, ptr inttoptr (i64 2087452864 to ptr), align 64, !invariant.load !35
  %140 = icmp eq ptr %137, null
  %141 = select i1 %140, i64 %139, i64 %138
  store i64 %141, ptr %words3, align 8
  call fastcc void @dj_map_stat_add(ptr nonnull %words3, i64 1)
  ret void
}

; Function Attrs: noimplicitfloat noredzone nounwind
define hidden preserve_mostcc void @dj_handler_2(i64 %0, i64 %1, i64 %2, i64 %3, i64 %4, i64 %5, i64 %6) local_unnamed_addr #0 {
entry:
  %words3 = alloca i64, align 8
  %words1 = alloca [2 x i64], align 8
  %old = alloca i64, align 8
  %words = alloca [2 x i64], align 8
  %7 = trunc i64 %6 to i32
  %8 = tail call i64 @dj_pid()
  store i64 %8, ptr %words, align 8
  %9 = getelementptr inbounds i8, ptr %words, i64 8
  store i64 2, ptr %9, align 8
  call fastcc void @dj_map_update(ptr nonnull %words, ptr nonnull %old)
  %10 = load i64, ptr inttoptr (i64 2082787536 to ptr), align 16, !tbaa !5
  %11 = icmp eq i64 %10, 0
  br i1 %11, label %14, label %12, !prof !12

12:                                               ; preds = %entry
  %13 = call preserve_mostcc i32 @dj_told_thread_id() #7
  br label %dj_tid.exit

14:                                               ; preds = %entry
  %15 = call noundef i32 asm sideeffect "movl %fs:dj_rseq+4, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !13
  %16 = icmp slt i32 %15, 0
  br i1 %16, label %35, label %17

17:                                               ; preds = %14
  %18 = load i64, ptr inttoptr (i64 2082787464 to ptr), align 8, !tbaa !14
  %19 = icmp eq i64 %18, 0
  br i1 %19, label %35, label %20, !prof !15

20:                                               ; preds = %17
  %21 = inttoptr i64 %18 to ptr
  %22 = call noundef i64 asm sideeffect "movq %fs:0, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !16
  %23 = lshr i64 %22, 6
  %24 = mul i64 %23, -7046029254386353131
  %25 = lshr i64 %24, 53
  %26 = getelementptr inbounds [2048 x i64], ptr %21, i64 0, i64 %25
  %27 = load atomic i64, ptr %26 acquire, align 8
  %28 = trunc i64 %27 to i32
  %29 = and i32 %28, 4194303
  %30 = lshr i64 %27, 22
  %31 = call i64 @llvm.fshl.i64(i64 %22, i64 %22, i64 58)
  %32 = icmp eq i64 %30, %31
  %33 = icmp ne i32 %29, 0
  %34 = and i1 %32, %33
  br i1 %34, label %dj_tid.exit, label %35, !prof !12

35:                                               ; preds = %20, %17, %14
  %36 = call preserve_mostcc i32 @dj_ask_thread_id() #7
  br label %dj_tid.exit

dj_tid.exit:                                      ; preds = %12, %20, %35
  %37 = phi i32 [ %13, %12 ], [ %29, %20 ], [ %36, %35 ]
  %38 = zext i32 %37 to i64
  call fastcc void @dj_stat_add(i64 %38)
  %39 = call i64 @dj_pid()
  store i64 %39, ptr %words1, align 8
  %40 = getelementptr inbounds i8, ptr %words1, i64 8
  store i64 2, ptr %40, align 8
  %41 = call fastcc i64 @dj_map_get(ptr nonnull %words1)
  %42 = icmp sgt i64 %41, 100000000
  br i1 %42, label %then, label %fi

then:                                             ; preds = %dj_tid.exit
  %43 = load i64, ptr inttoptr (i64 2082787536 to ptr), align 16, !tbaa !5
  %44 = icmp eq i64 %43, 0
  br i1 %44, label %47, label %45, !prof !12

45:                                               ; preds = %then
  %46 = call preserve_mostcc i32 @dj_told_thread_id() #7
  br label %dj_tid.exit1

47:                                               ; preds = %then
  %48 = call noundef i32 asm sideeffect "movl %fs:dj_rseq+4, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !13
  %49 = icmp slt i32 %48, 0
  br i1 %49, label %68, label %50

50:                                               ; preds = %47
  %51 = load i64, ptr inttoptr (i64 2082787464 to ptr), align 8, !tbaa !14
  %52 = icmp eq i64 %51, 0
  br i1 %52, label %68, label %53, !prof !15

53:                                               ; preds = %50
  %54 = inttoptr i64 %51 to ptr
  %55 = call noundef i64 asm sideeffect "movq %fs:0, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !16
  %56 = lshr i64 %55, 6
  %57 = mul i64 %56, -7046029254386353131
  %58 = lshr i64 %57, 53
  %59 = getelementptr inbounds [2048 x i64], ptr %54, i64 0, i64 %58
  %60 = load atomic i64, ptr %59 acquire, align 8
  %61 = trunc i64 %60 to i32
  %62 = and i32 %61, 4194303
  %63 = lshr i64 %60, 22
  %64 = call i64 @llvm.fshl.i64(i64 %55, i64 %55, i64 58)
  %65 = icmp eq i64 %63, %64
  %66 = icmp ne i32 %62, 0
  %67 = and i1 %65, %66
  br i1 %67, label %dj_tid.exit1, label %68, !prof !12

68:                                               ; preds = %53, %50, %47
  %69 = call preserve_mostcc i32 @dj_ask_thread_id() #7
  br label %dj_tid.exit1

dj_tid.exit1:                                     ; preds = %45, %53, %68
  %70 = phi i32 [ %46, %45 ], [ %62, %53 ], [ %69, %68 ]
  %71 = zext i32 %70 to i64
  %72 = load i64, ptr inttoptr (i64 2082787376 to ptr), align 16, !tbaa !17
  %73 = load i32, ptr inttoptr (i64 2082787340 to ptr), align 4, !tbaa !18
  %74 = call noundef i32 asm sideeffect "movl %fs:dj_rseq+4, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !19
  %75 = call i32 @llvm.umin.i32(i32 %74, i32 %73)
  %76 = zext i32 %75 to i64
  %77 = load i64, ptr inttoptr (i64 2082787384 to ptr), align 8, !tbaa !20
  %78 = mul i64 %77, %76
  %79 = add i64 %78, %72
  %80 = inttoptr i64 %79 to ptr
  %81 = call { i32, i32 } asm sideeffect "rdtsc", "={ax},={dx},~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !21
  %82 = extractvalue { i32, i32 } %81, 0
  %83 = extractvalue { i32, i32 } %81, 1
  %84 = zext i32 %83 to i64
  %85 = shl nuw i64 %84, 32
  %86 = zext i32 %82 to i64
  %87 = or disjoint i64 %85, %86
  %88 = getelementptr inbounds i8, ptr %80, i64 136
  %89 = load i64, ptr %88, align 8, !tbaa !22
  %90 = icmp ult i64 %89, 128
  br i1 %90, label %_ZN2dj5agent6Record4openEmNS_3abi9EventKindEj.exit.i, label %91

91:                                               ; preds = %dj_tid.exit1
  %92 = getelementptr inbounds i8, ptr %80, i64 128
  br label %93

93:                                               ; preds = %107, %91
  %94 = load atomic i64, ptr %80 acquire, align 8
  %95 = load i64, ptr %88, align 8, !tbaa !22
  %96 = add i64 %95, -1
  %97 = and i64 %96, %94
  %98 = sub i64 %95, %97
  %99 = icmp ult i64 %98, 64
  %100 = select i1 %99, i64 %98, i64 0
  %101 = add i64 %100, %94
  %102 = add i64 %101, 64
  %103 = load atomic i64, ptr %92 acquire, align 8
  %104 = sub i64 %102, %103
  %105 = load i64, ptr %88, align 8, !tbaa !22
  %106 = icmp ugt i64 %104, %105
  br i1 %106, label %_ZN2dj5agent6Record4openEmNS_3abi9EventKindEj.exit.i, label %107

107:                                              ; preds = %93
  %108 = cmpxchg ptr %80, i64 %94, i64 %102 seq_cst seq_cst, align 8
  %109 = extractvalue { i64, i1 } %108, 1
  br i1 %109, label %110, label %93, !llvm.loop !24

110:                                              ; preds = %107
  %111 = icmp eq i64 %100, 0
  br i1 %111, label %123, label %112

112:                                              ; preds = %110
  %113 = getelementptr inbounds i8, ptr %80, i64 256
  %114 = load i64, ptr %88, align 8, !tbaa !22
  %115 = add i64 %114, -1
  %116 = and i64 %115, %94
  %117 = getelementptr inbounds i8, ptr %113, i64 %116
  %118 = trunc i64 %100 to i32
  %119 = getelementptr inbounds i8, ptr %117, i64 16
  store i32 %118, ptr %119, align 8, !tbaa !26
  %120 = getelementptr inbounds i8, ptr %117, i64 20
  store i16 0, ptr %120, align 4, !tbaa !29
  %121 = add i64 %94, 1
  store atomic i64 %121, ptr %117 release, align 8
  br label %123

_ZN2dj5agent6Record4openEmNS_3abi9EventKindEj.exit.i: ; preds = %93, %dj_tid.exit1
  %122 = atomicrmw add ptr inttoptr (i64 2082787600 to ptr), i64 1 seq_cst, align 8
  br label %fi

123:                                              ; preds = %112, %110
  %124 = getelementptr inbounds i8, ptr %80, i64 256
  %125 = load i64, ptr %88, align 8, !tbaa !22
  %126 = add i64 %125, -1
  %127 = and i64 %126, %101
  %128 = getelementptr inbounds i8, ptr %124, i64 %127
  %129 = getelementptr inbounds i8, ptr %128, i64 8
  store i64 %87, ptr %129, align 8, !tbaa !30
  %130 = getelementptr inbounds i8, ptr %128, i64 16
  store i32 64, ptr %130, align 8, !tbaa !26
  %131 = getelementptr inbounds i8, ptr %128, i64 20
  store i16 1, ptr %131, align 4, !tbaa !29
  %132 = getelementptr inbounds i8, ptr %128, i64 22
  %133 = getelementptr inbounds i8, ptr %128, i64 24
  %134 = getelementptr inbounds i8, ptr %128, i64 28
  store i32 %7, ptr %134, align 4, !tbaa !31
  store i32 2, ptr %133, align 8, !tbaa !32
  store i16 1, ptr %132, align 2, !tbaa !33
  %135 = getelementptr inbounds i8, ptr %128, i64 32
  store i64 %71, ptr %135, align 8, !tbaa !34
  %136 = add i64 %101, 1
  store atomic i64 %136, ptr %128 release, align 8
  br label %fi

fi:                                               ; preds = %123, %_ZN2dj5agent6Record4openEmNS_3abi9EventKindEj.exit.i, %dj_tid.exit
  %137 = call ptr @dj_probefunc(i32 %7)
  %138 = ptrtoint ptr %137 to i64
  %139 = load i64, ptr inttoptr (i64 2087452864 to ptr), align 64, !invariant.load !35
  %140 = icmp eq ptr %137, null
  %141 = select i1 %140, i64 %139, i64 %138
  store i64 %141, ptr %words3, align 8
  call fastcc void @dj_map_stat_add(ptr nonnull %words3, i64 2)
  ret void
}

; Function Attrs: noimplicitfloat noredzone nounwind
define hidden preserve_mostcc void @dj_handler_3(i64 %0, i64 %1, i64 %2, i64 %3, i64 %4, i64 %5, i64 %6) local_unnamed_addr #0 {
entry:
  %words3 = alloca i64, align 8
  %words1 = alloca [2 x i64], align 8
  %old = alloca i64, align 8
  %words = alloca [2 x i64], align 8
  %7 = trunc i64 %6 to i32
  %8 = tail call i64 @dj_pid()
  store i64 %8, ptr %words, align 8
  %9 = getelementptr inbounds i8, ptr %words, i64 8
  store i64 3, ptr %9, align 8
  call fastcc void @dj_map_update(ptr nonnull %words, ptr nonnull %old)
  %10 = load i64, ptr inttoptr (i64 2082787536 to ptr), align 16, !tbaa !5
  %11 = icmp eq i64 %10, 0
  br i1 %11, label %14, label %12, !prof !12

12:                                               ; preds = %entry
  %13 = call preserve_mostcc i32 @dj_told_thread_id() #7
  br label %dj_tid.exit

14:                                               ; preds = %entry
  %15 = call noundef i32 asm sideeffect "movl %fs:dj_rseq+4, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !13
  %16 = icmp slt i32 %15, 0
  br i1 %16, label %35, label %17

17:                                               ; preds = %14
  %18 = load i64, ptr inttoptr (i64 2082787464 to ptr), align 8, !tbaa !14
  %19 = icmp eq i64 %18, 0
  br i1 %19, label %35, label %20, !prof !15

20:                                               ; preds = %17
  %21 = inttoptr i64 %18 to ptr
  %22 = call noundef i64 asm sideeffect "movq %fs:0, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !16
  %23 = lshr i64 %22, 6
  %24 = mul i64 %23, -7046029254386353131
  %25 = lshr i64 %24, 53
  %26 = getelementptr inbounds [2048 x i64], ptr %21, i64 0, i64 %25
  %27 = load atomic i64, ptr %26 acquire, align 8
  %28 = trunc i64 %27 to i32
  %29 = and i32 %28, 4194303
  %30 = lshr i64 %27, 22
  %31 = call i64 @llvm.fshl.i64(i64 %22, i64 %22, i64 58)
  %32 = icmp eq i64 %30, %31
  %33 = icmp ne i32 %29, 0
  %34 = and i1 %32, %33
  br i1 %34, label %dj_tid.exit, label %35, !prof !12

35:                                               ; preds = %20, %17, %14
  %36 = call preserve_mostcc i32 @dj_ask_thread_id() #7
  br label %dj_tid.exit

dj_tid.exit:                                      ; preds = %12, %20, %35
  %37 = phi i32 [ %13, %12 ], [ %29, %20 ], [ %36, %35 ]
  %38 = zext i32 %37 to i64
  call fastcc void @dj_stat_add(i64 %38)
  %39 = call i64 @dj_pid()
  store i64 %39, ptr %words1, align 8
  %40 = getelementptr inbounds i8, ptr %words1, i64 8
  store i64 3, ptr %40, align 8
  %41 = call fastcc i64 @dj_map_get(ptr nonnull %words1)
  %42 = icmp sgt i64 %41, 100000000
  br i1 %42, label %then, label %fi

then:                                             ; preds = %dj_tid.exit
  %43 = load i64, ptr inttoptr (i64 2082787536 to ptr), align 16, !tbaa !5
  %44 = icmp eq i64 %43, 0
  br i1 %44, label %47, label %45, !prof !12

45:                                               ; preds = %then
  %46 = call preserve_mostcc i32 @dj_told_thread_id() #7
  br label %dj_tid.exit1

47:                                               ; preds = %then
  %48 = call noundef i32 asm sideeffect "movl %fs:dj_rseq+4, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !13
  %49 = icmp slt i32 %48, 0
  br i1 %49, label %68, label %50

50:                                               ; preds = %47
  %51 = load i64, ptr inttoptr (i64 2082787464 to ptr), align 8, !tbaa !14
  %52 = icmp eq i64 %51, 0
  br i1 %52, label %68, label %53, !prof !15

53:                                               ; preds = %50
  %54 = inttoptr i64 %51 to ptr
  %55 = call noundef i64 asm sideeffect "movq %fs:0, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !16
  %56 = lshr i64 %55, 6
  %57 = mul i64 %56, -7046029254386353131
  %58 = lshr i64 %57, 53
  %59 = getelementptr inbounds [2048 x i64], ptr %54, i64 0, i64 %58
  %60 = load atomic i64, ptr %59 acquire, align 8
  %61 = trunc i64 %60 to i32
  %62 = and i32 %61, 4194303
  %63 = lshr i64 %60, 22
  %64 = call i64 @llvm.fshl.i64(i64 %55, i64 %55, i64 58)
  %65 = icmp eq i64 %63, %64
  %66 = icmp ne i32 %62, 0
  %67 = and i1 %65, %66
  br i1 %67, label %dj_tid.exit1, label %68, !prof !12

68:                                               ; preds = %53, %50, %47
  %69 = call preserve_mostcc i32 @dj_ask_thread_id() #7
  br label %dj_tid.exit1

dj_tid.exit1:                                     ; preds = %45, %53, %68
  %70 = phi i32 [ %46, %45 ], [ %62, %53 ], [ %69, %68 ]
  %71 = zext i32 %70 to i64
  %72 = load i64, ptr inttoptr (i64 2082787376 to ptr), align 16, !tbaa !17
  %73 = load i32, ptr inttoptr (i64 2082787340 to ptr), align 4, !tbaa !18
  %74 = call noundef i32 asm sideeffect "movl %fs:dj_rseq+4, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !19
  %75 = call i32 @llvm.umin.i32(i32 %74, i32 %73)
  %76 = zext i32 %75 to i64
  %77 = load i64, ptr inttoptr (i64 2082787384 to ptr), align 8, !tbaa !20
  %78 = mul i64 %77, %76
  %79 = add i64 %78, %72
  %80 = inttoptr i64 %79 to ptr
  %81 = call { i32, i32 } asm sideeffect "rdtsc", "={ax},={dx},~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !21
  %82 = extractvalue { i32, i32 } %81, 0
  %83 = extractvalue { i32, i32 } %81, 1
  %84 = zext i32 %83 to i64
  %85 = shl nuw i64 %84, 32
  %86 = zext i32 %82 to i64
  %87 = or disjoint i64 %85, %86
  %88 = getelementptr inbounds i8, ptr %80, i64 136
  %89 = load i64, ptr %88, align 8, !tbaa !22
  %90 = icmp ult i64 %89, 128
  br i1 %90, label %_ZN2dj5agent6Record4openEmNS_3abi9EventKindEj.exit.i, label %91

91:                                               ; preds = %dj_tid.exit1
  %92 = getelementptr inbounds i8, ptr %80, i64 128
  br label %93

93:                                               ; preds = %107, %91
  %94 = load atomic i64, ptr %80 acquire, align 8
  %95 = load i64, ptr %88, align 8, !tbaa !22
  %96 = add i64 %95, -1
  %97 = and i64 %96, %94
  %98 = sub i64 %95, %97
  %99 = icmp ult i64 %98, 64
  %100 = select i1 %99, i64 %98, i64 0
  %101 = add i64 %100, %94
  %102 = add i64 %101, 64
  %103 = load atomic i64, ptr %92 acquire, align 8
  %104 = sub i64 %102, %103
  %105 = load i64, ptr %88, align 8, !tbaa !22
  %106 = icmp ugt i64 %104, %105
  br i1 %106, label %_ZN2dj5agent6Record4openEmNS_3abi9EventKindEj.exit.i, label %107

107:                                              ; preds = %93
  %108 = cmpxchg ptr %80, i64 %94, i64 %102 seq_cst seq_cst, align 8
  %109 = extractvalue { i64, i1 } %108, 1
  br i1 %109, label %110, label %93, !llvm.loop !24

110:                                              ; preds = %107
  %111 = icmp eq i64 %100, 0
  br i1 %111, label %123, label %112

112:                                              ; preds = %110
  %113 = getelementptr inbounds i8, ptr %80, i64 256
  %114 = load i64, ptr %88, align 8, !tbaa !22
  %115 = add i64 %114, -1
  %116 = and i64 %115, %94
  %117 = getelementptr inbounds i8, ptr %113, i64 %116
  %118 = trunc i64 %100 to i32
  %119 = getelementptr inbounds i8, ptr %117, i64 16
  store i32 %118, ptr %119, align 8, !tbaa !26
  %120 = getelementptr inbounds i8, ptr %117, i64 20
  store i16 0, ptr %120, align 4, !tbaa !29
  %121 = add i64 %94, 1
  store atomic i64 %121, ptr %117 release, align 8
  br label %123

_ZN2dj5agent6Record4openEmNS_3abi9EventKindEj.exit.i: ; preds = %93, %dj_tid.exit1
  %122 = atomicrmw add ptr inttoptr (i64 2082787600 to ptr), i64 1 seq_cst, align 8
  br label %fi

123:                                              ; preds = %112, %110
  %124 = getelementptr inbounds i8, ptr %80, i64 256
  %125 = load i64, ptr %88, align 8, !tbaa !22
  %126 = add i64 %125, -1
  %127 = and i64 %126, %101
  %128 = getelementptr inbounds i8, ptr %124, i64 %127
  %129 = getelementptr inbounds i8, ptr %128, i64 8
  store i64 %87, ptr %129, align 8, !tbaa !30
  %130 = getelementptr inbounds i8, ptr %128, i64 16
  store i32 64, ptr %130, align 8, !tbaa !26
  %131 = getelementptr inbounds i8, ptr %128, i64 20
  store i16 1, ptr %131, align 4, !tbaa !29
  %132 = getelementptr inbounds i8, ptr %128, i64 22
  %133 = getelementptr inbounds i8, ptr %128, i64 24
  %134 = getelementptr inbounds i8, ptr %128, i64 28
  store i32 %7, ptr %134, align 4, !tbaa !31
  store i32 3, ptr %133, align 8, !tbaa !32
  store i16 1, ptr %132, align 2, !tbaa !33
  %135 = getelementptr inbounds i8, ptr %128, i64 32
  store i64 %71, ptr %135, align 8, !tbaa !34
  %136 = add i64 %101, 1
  store atomic i64 %136, ptr %128 release, align 8
  br label %fi

fi:                                               ; preds = %123, %_ZN2dj5agent6Record4openEmNS_3abi9EventKindEj.exit.i, %dj_tid.exit
  %137 = call ptr @dj_probefunc(i32 %7)
  %138 = ptrtoint ptr %137 to i64
  %139 = load i64, ptr inttoptr (i64 2087452864 to ptr), align 64, !invariant.load !35
  %140 = icmp eq ptr %137, null
  %141 = select i1 %140, i64 %139, i64 %138
  store i64 %141, ptr %words3, align 8
  call fastcc void @dj_map_stat_add(ptr nonnull %words3, i64 3)
  ret void
}

; Function Attrs: noimplicitfloat noredzone nounwind
define hidden preserve_mostcc void @dj_handler_4(i64 %0, i64 %1, i64 %2, i64 %3, i64 %4, i64 %5) local_unnamed_addr #0 {
entry:
  tail call void @dj_loader_event()
  ret void
}

; Function Attrs: nounwind
declare hidden void @dj_loader_event() local_unnamed_addr #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.umin.i32(i32, i32) #3

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #2

; Function Attrs: mustprogress nounwind
define internal fastcc i64 @dj_map_get(ptr nocapture noundef readonly %0) unnamed_addr #4 {
  %2 = load i32, ptr inttoptr (i64 2087120900 to ptr), align 4, !tbaa !36
  %3 = icmp eq i32 %2, 0
  br i1 %3, label %48, label %4

4:                                                ; preds = %1
  %5 = zext i32 %2 to i64
  %xtraiter = and i64 %5, 3
  %6 = icmp ult i32 %2, 4
  br i1 %6, label %.unr-lcssa, label %.new

.new:                                             ; preds = %4
  %unroll_iter = and i64 %5, 4294967292
  br label %17

.unr-lcssa:                                       ; preds = %17, %4
  %.lcssa12.ph = phi i64 [ poison, %4 ], [ %46, %17 ]
  %.unr = phi i64 [ 0, %4 ], [ %47, %17 ]
  %.unr13 = phi i64 [ 0, %4 ], [ %46, %17 ]
  %lcmp.mod.not = icmp eq i64 %xtraiter, 0
  br i1 %lcmp.mod.not, label %.epilog-lcssa, label %.epil.preheader

.epil.preheader:                                  ; preds = %.unr-lcssa, %.epil.preheader
  %7 = phi i64 [ %15, %.epil.preheader ], [ %.unr, %.unr-lcssa ]
  %8 = phi i64 [ %14, %.epil.preheader ], [ %.unr13, %.unr-lcssa ]
  %epil.iter = phi i64 [ %epil.iter.next, %.epil.preheader ], [ 0, %.unr-lcssa ]
  %9 = getelementptr inbounds i64, ptr %0, i64 %7
  %10 = load i64, ptr %9, align 8, !tbaa !34
  %11 = xor i64 %10, %8
  %12 = mul i64 %11, -7046029254386353131
  %13 = lshr i64 %12, 32
  %14 = xor i64 %13, %12
  %15 = add nuw nsw i64 %7, 1
  %epil.iter.next = add i64 %epil.iter, 1
  %epil.iter.cmp.not = icmp eq i64 %epil.iter.next, %xtraiter
  br i1 %epil.iter.cmp.not, label %.epilog-lcssa, label %.epil.preheader, !llvm.loop !39

.epilog-lcssa:                                    ; preds = %.epil.preheader, %.unr-lcssa
  %.lcssa12 = phi i64 [ %.lcssa12.ph, %.unr-lcssa ], [ %14, %.epil.preheader ]
  %16 = trunc i64 %.lcssa12 to i32
  br label %48

17:                                               ; preds = %17, %.new
  %18 = phi i64 [ 0, %.new ], [ %47, %17 ]
  %19 = phi i64 [ 0, %.new ], [ %46, %17 ]
  %niter = phi i64 [ 0, %.new ], [ %niter.next.3, %17 ]
  %20 = getelementptr inbounds i64, ptr %0, i64 %18
  %21 = load i64, ptr %20, align 8, !tbaa !34
  %22 = xor i64 %21, %19
  %23 = mul i64 %22, -7046029254386353131
  %24 = lshr i64 %23, 32
  %25 = or disjoint i64 %18, 1
  %26 = getelementptr inbounds i64, ptr %0, i64 %25
  %27 = load i64, ptr %26, align 8, !tbaa !34
  %28 = xor i64 %24, %27
  %29 = xor i64 %28, %23
  %30 = mul i64 %29, -7046029254386353131
  %31 = lshr i64 %30, 32
  %32 = or disjoint i64 %18, 2
  %33 = getelementptr inbounds i64, ptr %0, i64 %32
  %34 = load i64, ptr %33, align 8, !tbaa !34
  %35 = xor i64 %31, %34
  %36 = xor i64 %35, %30
  %37 = mul i64 %36, -7046029254386353131
  %38 = lshr i64 %37, 32
  %39 = or disjoint i64 %18, 3
  %40 = getelementptr inbounds i64, ptr %0, i64 %39
  %41 = load i64, ptr %40, align 8, !tbaa !34
  %42 = xor i64 %38, %41
  %43 = xor i64 %42, %37
  %44 = mul i64 %43, -7046029254386353131
  %45 = lshr i64 %44, 32
  %46 = xor i64 %45, %44
  %47 = add nuw nsw i64 %18, 4
  %niter.next.3 = add i64 %niter, 4
  %niter.ncmp.3 = icmp eq i64 %niter.next.3, %unroll_iter
  br i1 %niter.ncmp.3, label %.unr-lcssa, label %17, !llvm.loop !41

48:                                               ; preds = %.epilog-lcssa, %1
  %49 = phi i32 [ 0, %1 ], [ %16, %.epilog-lcssa ]
  br label %53

50:                                               ; preds = %.loopexit13
  %51 = add nuw nsw i32 %54, 1
  %52 = icmp eq i32 %51, 1048576
  br i1 %52, label %.loopexit, label %53, !llvm.loop !42

53:                                               ; preds = %50, %48
  %54 = phi i32 [ 0, %48 ], [ %51, %50 ]
  br label %55

55:                                               ; preds = %134, %53
  %56 = phi i32 [ 0, %53 ], [ %135, %134 ]
  %57 = load i64, ptr inttoptr (i64 2087120920 to ptr), align 8, !tbaa !43, !noalias !44
  %58 = add i64 %57, 2087120896
  %59 = inttoptr i64 %58 to ptr
  %60 = load i32, ptr inttoptr (i64 2087120908 to ptr), align 4, !tbaa !47, !noalias !44
  %61 = and i32 %60, %49
  %62 = zext i32 %61 to i64
  %63 = getelementptr inbounds i64, ptr %59, i64 %62
  %64 = load atomic i64, ptr %63 acquire, align 8, !noalias !44
  %65 = load i32, ptr inttoptr (i64 2087120896 to ptr), align 4096, !tbaa !48, !noalias !44
  br label %66

66:                                               ; preds = %128, %55
  %67 = phi i32 [ %65, %55 ], [ %132, %128 ]
  %68 = phi ptr [ %63, %55 ], [ %130, %128 ]
  %69 = phi i64 [ %64, %55 ], [ %129, %128 ]
  %70 = phi i32 [ 0, %55 ], [ %131, %128 ]
  %71 = trunc i64 %69 to i32
  %72 = and i32 %71, 16777215
  %73 = icmp eq i32 %72, 0
  br i1 %73, label %.loopexit, label %74

74:                                               ; preds = %66
  %75 = icmp ugt i32 %72, %67
  br i1 %75, label %134, label %76

76:                                               ; preds = %74
  %77 = add nsw i32 %72, -1
  %78 = load i64, ptr inttoptr (i64 2087120912 to ptr), align 16, !tbaa !49, !noalias !44
  %79 = zext nneg i32 %77 to i64
  %80 = load i32, ptr inttoptr (i64 2087120904 to ptr), align 8, !tbaa !50, !noalias !44
  %81 = zext i32 %80 to i64
  %82 = mul nuw nsw i64 %81, %79
  %83 = add i64 %82, %78
  %84 = add i64 %83, 2087120896
  %85 = inttoptr i64 %84 to ptr
  %86 = getelementptr inbounds i8, ptr %85, i64 8
  %87 = load atomic i64, ptr %86 acquire, align 8, !noalias !44
  %88 = getelementptr inbounds i8, ptr %85, i64 16
  %89 = load atomic i64, ptr %88 acquire, align 8, !noalias !44
  %90 = getelementptr inbounds i8, ptr %85, i64 24
  %91 = load atomic i32, ptr %90 acquire, align 4, !noalias !44
  %92 = icmp eq i32 %91, %49
  br i1 %92, label %93, label %114

93:                                               ; preds = %76
  %94 = getelementptr inbounds i8, ptr %85, i64 32
  %95 = load i32, ptr inttoptr (i64 2087120900 to ptr), align 4, !tbaa !36, !noalias !44
  %96 = icmp eq i32 %95, 0
  br i1 %96, label %114, label %97

97:                                               ; preds = %93
  %98 = zext i32 %95 to i64
  %99 = load i64, ptr %94, align 8, !tbaa !34, !noalias !44
  %100 = load i64, ptr %0, align 8, !tbaa !34, !noalias !44
  %101 = icmp eq i64 %99, %100
  br i1 %101, label %.preheader, label %114

.preheader:                                       ; preds = %97, %105
  %102 = phi i64 [ %103, %105 ], [ 0, %97 ]
  %103 = add nuw nsw i64 %102, 1
  %104 = icmp eq i64 %103, %98
  br i1 %104, label %111, label %105, !llvm.loop !51

105:                                              ; preds = %.preheader
  %106 = getelementptr inbounds i64, ptr %94, i64 %103
  %107 = load i64, ptr %106, align 8, !tbaa !34, !noalias !44
  %108 = getelementptr inbounds i64, ptr %0, i64 %103
  %109 = load i64, ptr %108, align 8, !tbaa !34, !noalias !44
  %110 = icmp eq i64 %107, %109
  br i1 %110, label %.preheader, label %111, !llvm.loop !51

111:                                              ; preds = %105, %.preheader
  %112 = phi i64 [ %103, %105 ], [ %98, %.preheader ]
  %113 = icmp uge i64 %112, %98
  br label %114

114:                                              ; preds = %111, %97, %93, %76
  %115 = phi i1 [ false, %76 ], [ true, %93 ], [ false, %97 ], [ %113, %111 ]
  %116 = load atomic i64, ptr %68 acquire, align 8, !noalias !44
  %117 = icmp eq i64 %116, %69
  br i1 %117, label %118, label %134

118:                                              ; preds = %114
  %119 = and i64 %87, 1
  %120 = icmp ne i64 %119, 0
  %121 = and i64 %89, 16777216
  %122 = icmp eq i64 %121, 0
  %123 = and i1 %120, %122
  br i1 %123, label %127, label %124, !prof !12

124:                                              ; preds = %118
  %125 = tail call preserve_mostcc i64 @dj_map_unlink(ptr noundef nonnull inttoptr (i64 2087120896 to ptr), ptr noundef nonnull %68, i64 noundef %69, ptr noundef nonnull %85) #7, !noalias !44
  %126 = icmp eq i64 %125, 0
  br i1 %126, label %134, label %128

127:                                              ; preds = %118
  br i1 %115, label %139, label %128

128:                                              ; preds = %127, %124
  %129 = phi i64 [ %89, %127 ], [ %125, %124 ]
  %130 = phi ptr [ %88, %127 ], [ %68, %124 ]
  %131 = add i32 %70, 1
  %132 = load i32, ptr inttoptr (i64 2087120896 to ptr), align 4096, !tbaa !48, !noalias !44
  %133 = icmp ugt i32 %131, %132
  br i1 %133, label %134, label %66, !llvm.loop !52

134:                                              ; preds = %128, %124, %114, %74
  %135 = add nuw nsw i32 %56, 1
  %136 = icmp eq i32 %135, 1048576
  br i1 %136, label %137, label %55, !llvm.loop !53

137:                                              ; preds = %134
  %138 = atomicrmw add ptr inttoptr (i64 2082787656 to ptr), i64 1 seq_cst, align 8, !noalias !44
  br label %.loopexit

139:                                              ; preds = %127
  %140 = getelementptr inbounds i8, ptr %85, i64 8
  %141 = icmp eq i64 %84, 0
  br i1 %141, label %.loopexit, label %142

142:                                              ; preds = %139
  %143 = load atomic i64, ptr %85 acquire, align 8
  %144 = load i64, ptr inttoptr (i64 2087120968 to ptr), align 8, !tbaa !54
  %145 = icmp eq i64 %144, 0
  br i1 %145, label %.loopexit13, label %146

146:                                              ; preds = %142
  %147 = load i64, ptr inttoptr (i64 2087120912 to ptr), align 16, !tbaa !49
  %148 = sub i64 %83, %147
  %149 = load i32, ptr inttoptr (i64 2087120904 to ptr), align 8, !tbaa !50
  %150 = zext i32 %149 to i64
  %151 = udiv i64 %148, %150
  %152 = shl i64 %151, 3
  %153 = and i64 %152, 34359738360
  %154 = add i64 %144, 2087120896
  %155 = add i64 %154, %153
  %156 = inttoptr i64 %155 to ptr
  %157 = load i32, ptr inttoptr (i64 2087120976 to ptr), align 16, !tbaa !55
  %158 = icmp eq i32 %157, 0
  br i1 %158, label %.loopexit13, label %.preheader12

.preheader12:                                     ; preds = %146, %.preheader12
  %159 = phi i64 [ %168, %.preheader12 ], [ 0, %146 ]
  %160 = phi i64 [ %167, %.preheader12 ], [ %143, %146 ]
  %161 = load i32, ptr inttoptr (i64 2087120980 to ptr), align 4, !tbaa !56
  %162 = zext nneg i32 %161 to i64
  %163 = shl i64 %159, %162
  %164 = lshr i64 %163, 3
  %165 = getelementptr inbounds i64, ptr %156, i64 %164
  %166 = load atomic i64, ptr %165 acquire, align 8
  %167 = add i64 %166, %160
  %168 = add nuw nsw i64 %159, 1
  %169 = load i32, ptr inttoptr (i64 2087120976 to ptr), align 16, !tbaa !55
  %170 = zext i32 %169 to i64
  %171 = icmp ult i64 %168, %170
  br i1 %171, label %.preheader12, label %.loopexit13, !llvm.loop !57

.loopexit13:                                      ; preds = %.preheader12, %146, %142
  %172 = phi i64 [ %143, %142 ], [ %143, %146 ], [ %167, %.preheader12 ]
  %173 = load atomic i64, ptr %140 acquire, align 8
  %174 = icmp eq i64 %173, %87
  br i1 %174, label %.loopexit, label %50

.loopexit:                                        ; preds = %.loopexit13, %139, %50, %66, %137
  %175 = phi i64 [ 0, %137 ], [ 0, %66 ], [ 0, %50 ], [ 0, %139 ], [ %172, %.loopexit13 ]
  ret i64 %175
}

declare hidden preserve_mostcc i64 @dj_map_unlink(ptr noundef, ptr noundef, i64 noundef, ptr noundef) local_unnamed_addr #5

; Function Attrs: mustprogress nounwind
define internal fastcc void @dj_map_update(ptr noundef %0, ptr nocapture noundef writeonly %1) unnamed_addr #4 {
  %3 = alloca i64, align 8
  %4 = alloca i64, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %4) #1
  %5 = load i32, ptr inttoptr (i64 2087120900 to ptr), align 4, !tbaa !36
  %6 = icmp eq i32 %5, 0
  br i1 %6, label %51, label %7

7:                                                ; preds = %2
  %8 = zext i32 %5 to i64
  %xtraiter = and i64 %8, 3
  %9 = icmp ult i32 %5, 4
  br i1 %9, label %.unr-lcssa, label %.new

.new:                                             ; preds = %7
  %unroll_iter = and i64 %8, 4294967292
  br label %20

.unr-lcssa:                                       ; preds = %20, %7
  %.lcssa18.ph = phi i64 [ poison, %7 ], [ %49, %20 ]
  %.unr = phi i64 [ 0, %7 ], [ %50, %20 ]
  %.unr19 = phi i64 [ 0, %7 ], [ %49, %20 ]
  %lcmp.mod.not = icmp eq i64 %xtraiter, 0
  br i1 %lcmp.mod.not, label %.epilog-lcssa, label %.epil.preheader

.epil.preheader:                                  ; preds = %.unr-lcssa, %.epil.preheader
  %10 = phi i64 [ %18, %.epil.preheader ], [ %.unr, %.unr-lcssa ]
  %11 = phi i64 [ %17, %.epil.preheader ], [ %.unr19, %.unr-lcssa ]
  %epil.iter = phi i64 [ %epil.iter.next, %.epil.preheader ], [ 0, %.unr-lcssa ]
  %12 = getelementptr inbounds i64, ptr %0, i64 %10
  %13 = load i64, ptr %12, align 8, !tbaa !34
  %14 = xor i64 %13, %11
  %15 = mul i64 %14, -7046029254386353131
  %16 = lshr i64 %15, 32
  %17 = xor i64 %16, %15
  %18 = add nuw nsw i64 %10, 1
  %epil.iter.next = add i64 %epil.iter, 1
  %epil.iter.cmp.not = icmp eq i64 %epil.iter.next, %xtraiter
  br i1 %epil.iter.cmp.not, label %.epilog-lcssa, label %.epil.preheader, !llvm.loop !58

.epilog-lcssa:                                    ; preds = %.epil.preheader, %.unr-lcssa
  %.lcssa18 = phi i64 [ %.lcssa18.ph, %.unr-lcssa ], [ %17, %.epil.preheader ]
  %19 = trunc i64 %.lcssa18 to i32
  br label %51

20:                                               ; preds = %20, %.new
  %21 = phi i64 [ 0, %.new ], [ %50, %20 ]
  %22 = phi i64 [ 0, %.new ], [ %49, %20 ]
  %niter = phi i64 [ 0, %.new ], [ %niter.next.3, %20 ]
  %23 = getelementptr inbounds i64, ptr %0, i64 %21
  %24 = load i64, ptr %23, align 8, !tbaa !34
  %25 = xor i64 %24, %22
  %26 = mul i64 %25, -7046029254386353131
  %27 = lshr i64 %26, 32
  %28 = or disjoint i64 %21, 1
  %29 = getelementptr inbounds i64, ptr %0, i64 %28
  %30 = load i64, ptr %29, align 8, !tbaa !34
  %31 = xor i64 %27, %30
  %32 = xor i64 %31, %26
  %33 = mul i64 %32, -7046029254386353131
  %34 = lshr i64 %33, 32
  %35 = or disjoint i64 %21, 2
  %36 = getelementptr inbounds i64, ptr %0, i64 %35
  %37 = load i64, ptr %36, align 8, !tbaa !34
  %38 = xor i64 %34, %37
  %39 = xor i64 %38, %33
  %40 = mul i64 %39, -7046029254386353131
  %41 = lshr i64 %40, 32
  %42 = or disjoint i64 %21, 3
  %43 = getelementptr inbounds i64, ptr %0, i64 %42
  %44 = load i64, ptr %43, align 8, !tbaa !34
  %45 = xor i64 %41, %44
  %46 = xor i64 %45, %40
  %47 = mul i64 %46, -7046029254386353131
  %48 = lshr i64 %47, 32
  %49 = xor i64 %48, %47
  %50 = add nuw nsw i64 %21, 4
  %niter.next.3 = add i64 %niter, 4
  %niter.ncmp.3 = icmp eq i64 %niter.next.3, %unroll_iter
  br i1 %niter.ncmp.3, label %.unr-lcssa, label %20, !llvm.loop !41

51:                                               ; preds = %.epilog-lcssa, %2
  %52 = phi i32 [ 0, %2 ], [ %19, %.epilog-lcssa ]
  %53 = load i64, ptr inttoptr (i64 2087120968 to ptr), align 8, !tbaa !54
  %54 = icmp eq i64 %53, 0
  %55 = load i64, ptr inttoptr (i64 2087120920 to ptr), align 8, !tbaa !43
  %56 = add i64 %55, 2087120896
  %57 = inttoptr i64 %56 to ptr
  %58 = load i32, ptr inttoptr (i64 2087120908 to ptr), align 4, !tbaa !47
  %59 = and i32 %58, %52
  %60 = zext i32 %59 to i64
  %61 = getelementptr inbounds i64, ptr %57, i64 %60
  %62 = load atomic i64, ptr %61 acquire, align 8
  br i1 %54, label %110, label %.preheader

.preheader:                                       ; preds = %51, %98
  %63 = phi i64 [ %100, %98 ], [ %62, %51 ]
  %64 = phi i32 [ %101, %98 ], [ 0, %51 ]
  %65 = trunc i64 %63 to i32
  %66 = and i32 %65, 16777215
  %67 = add nsw i32 %66, -1
  %68 = load i32, ptr inttoptr (i64 2087120896 to ptr), align 4096, !tbaa !48
  %69 = icmp ult i32 %67, %68
  br i1 %69, label %70, label %.loopexit12.i, !prof !12

70:                                               ; preds = %.preheader
  %71 = load i64, ptr inttoptr (i64 2087120912 to ptr), align 16, !tbaa !49
  %72 = add i64 %71, 2087120896
  %73 = zext nneg i32 %67 to i64
  %74 = load i32, ptr inttoptr (i64 2087120904 to ptr), align 8, !tbaa !50
  %75 = zext i32 %74 to i64
  %76 = mul nuw nsw i64 %75, %73
  %77 = add i64 %72, %76
  %78 = inttoptr i64 %77 to ptr
  %79 = getelementptr inbounds i8, ptr %78, i64 32
  %80 = load i32, ptr inttoptr (i64 2087120900 to ptr), align 4, !tbaa !36
  %81 = icmp eq i32 %80, 0
  br i1 %81, label %.loopexit13.i, label %82

82:                                               ; preds = %70
  %83 = zext i32 %80 to i64
  %84 = load i64, ptr %79, align 8, !tbaa !34
  %85 = load i64, ptr %0, align 8, !tbaa !34
  %86 = icmp eq i64 %84, %85
  br i1 %86, label %.preheader11.i, label %98

.preheader11.i:                                   ; preds = %82, %90
  %87 = phi i64 [ %88, %90 ], [ 0, %82 ]
  %88 = add nuw nsw i64 %87, 1
  %89 = icmp eq i64 %88, %83
  br i1 %89, label %.loopexit.i, label %90, !llvm.loop !51

90:                                               ; preds = %.preheader11.i
  %91 = getelementptr inbounds i64, ptr %79, i64 %88
  %92 = load i64, ptr %91, align 8, !tbaa !34
  %93 = getelementptr inbounds i64, ptr %0, i64 %88
  %94 = load i64, ptr %93, align 8, !tbaa !34
  %95 = icmp eq i64 %92, %94
  br i1 %95, label %.preheader11.i, label %96, !llvm.loop !51

96:                                               ; preds = %90
  %97 = icmp ult i64 %88, %83
  br i1 %97, label %98, label %.loopexit.i

98:                                               ; preds = %96, %82
  %99 = getelementptr inbounds i8, ptr %78, i64 16
  %100 = load atomic i64, ptr %99 acquire, align 8
  %101 = add nuw nsw i32 %64, 1
  %102 = icmp eq i32 %101, 16
  br i1 %102, label %.loopexit12.i, label %.preheader, !llvm.loop !59

.loopexit.i:                                      ; preds = %96, %.preheader11.i
  %103 = icmp eq i32 %66, 0
  br i1 %103, label %.loopexit12.i, label %.loopexit13.i, !prof !15

.loopexit13.i:                                    ; preds = %70, %.loopexit.i
  %104 = load i64, ptr inttoptr (i64 2087120968 to ptr), align 8, !tbaa !54
  %105 = shl nuw nsw i64 %73, 3
  %106 = add nuw nsw i64 %105, 2087120896
  %107 = add i64 %106, %104
  %108 = load i32, ptr inttoptr (i64 2087120980 to ptr), align 4, !tbaa !56
  callbr void asm sideeffect ".pushsection .dj_rseq_cs, \22a\22\0A.balign 32\0A3: .long 0, 0\0A   .quad 1f, 2f - 1f, 4f\0A.popsection\0A.pushsection .text.dj_rseq_abort, \22ax\22\0A   .byte 0x0f, 0xb9, 0x3d\0A   .long 0x53053053\0A4: jmp 5f\0A.popsection\0A5: leaq 3b(%rip), %r11\0A   movq %r11, %fs:dj_rseq+8\0A1: movl %fs:dj_rseq+4, %r11d\0A   shll %cl, %r11d\0A   js ${3:l}\0A   addq $2, ($0,%r11)\0A2:\0A", "r,{cx},er,!i,~{r11},~{memory},~{cc},~{dirflag},~{fpsr},~{flags}"(i64 %107, i32 %108, i64 1) #1
          to label %_ZN12_GLOBAL__N_16changeEPN2dj3abi3MapEPKmjmPm.exit [label %.loopexit12.i], !srcloc !60

.loopexit12.i:                                    ; preds = %98, %.preheader, %.loopexit13.i, %.loopexit.i
  %109 = call preserve_mostcc i64 @dj_map_change(ptr noundef nonnull inttoptr (i64 2087120896 to ptr), ptr noundef %0, i32 noundef %52, i32 noundef 0, i64 noundef 1, ptr noundef nonnull %4) #7
  br label %_ZN12_GLOBAL__N_16changeEPN2dj3abi3MapEPKmjmPm.exit

110:                                              ; preds = %51
  %111 = trunc i64 %62 to i32
  %112 = and i32 %111, 16777215
  %113 = add nsw i32 %112, -1
  %114 = load i32, ptr inttoptr (i64 2087120896 to ptr), align 4096, !tbaa !48
  %115 = icmp ult i32 %113, %114
  br i1 %115, label %116, label %163, !prof !12

116:                                              ; preds = %110
  %117 = load i64, ptr inttoptr (i64 2087120912 to ptr), align 16, !tbaa !49
  %118 = add i64 %117, 2087120896
  %119 = zext nneg i32 %113 to i64
  %120 = load i32, ptr inttoptr (i64 2087120904 to ptr), align 8, !tbaa !50
  %121 = zext i32 %120 to i64
  %122 = mul nuw nsw i64 %121, %119
  %123 = add i64 %118, %122
  %124 = inttoptr i64 %123 to ptr
  %125 = load atomic i64, ptr %124 acquire, align 8
  %126 = getelementptr inbounds i8, ptr %124, i64 8
  %127 = load atomic i64, ptr %126 acquire, align 8
  %128 = getelementptr inbounds i8, ptr %124, i64 32
  %129 = load i32, ptr inttoptr (i64 2087120900 to ptr), align 4, !tbaa !36
  %130 = icmp eq i32 %129, 0
  br i1 %130, label %151, label %131

131:                                              ; preds = %116
  %132 = zext i32 %129 to i64
  %133 = load i64, ptr %128, align 8, !tbaa !34
  %134 = load i64, ptr %0, align 8, !tbaa !34
  %135 = icmp eq i64 %133, %134
  br i1 %135, label %.preheader.i, label %163, !prof !61

.preheader.i:                                     ; preds = %131, %139
  %136 = phi i64 [ %137, %139 ], [ 0, %131 ]
  %137 = add nuw nsw i64 %136, 1
  %138 = icmp eq i64 %137, %132
  br i1 %138, label %145, label %139, !llvm.loop !51

139:                                              ; preds = %.preheader.i
  %140 = getelementptr inbounds i64, ptr %128, i64 %137
  %141 = load i64, ptr %140, align 8, !tbaa !34
  %142 = getelementptr inbounds i64, ptr %0, i64 %137
  %143 = load i64, ptr %142, align 8, !tbaa !34
  %144 = icmp eq i64 %141, %143
  br i1 %144, label %.preheader.i, label %145, !llvm.loop !51

145:                                              ; preds = %139, %.preheader.i
  %146 = phi i64 [ %137, %139 ], [ %132, %.preheader.i ]
  %147 = icmp uge i64 %146, %132
  %148 = and i64 %127, 1
  %149 = icmp ne i64 %148, 0
  %150 = select i1 %147, i1 %149, i1 false
  br i1 %150, label %154, label %163, !prof !61

151:                                              ; preds = %116
  %152 = and i64 %127, 1
  %153 = icmp eq i64 %152, 0
  br i1 %153, label %163, label %154, !prof !62

154:                                              ; preds = %151, %145
  %155 = load atomic i64, ptr %61 acquire, align 8
  %156 = icmp eq i64 %155, %62
  br i1 %156, label %157, label %163, !prof !12

157:                                              ; preds = %154
  store i64 %125, ptr %4, align 8, !tbaa !34
  %158 = add i64 %125, 1
  %159 = tail call { i8, i64, i64 } asm sideeffect "lock cmpxchg16b $0", "=*m,={@ccz},={ax},={dx},{bx},{cx},*m,2,3,~{memory},~{dirflag},~{fpsr},~{flags}"(ptr nonnull elementtype(%"struct.dj::abi::Pair") %124, i64 %158, i64 %127, ptr nonnull elementtype(%"struct.dj::abi::Pair") %124, i64 %125, i64 %127) #1, !srcloc !63
  %160 = extractvalue { i8, i64, i64 } %159, 0
  %161 = icmp ult i8 %160, 2
  tail call void @llvm.assume(i1 %161)
  %162 = trunc nuw i8 %160 to i1
  br i1 %162, label %_ZN12_GLOBAL__N_16changeEPN2dj3abi3MapEPKmjmPm.exit, label %163, !prof !64

163:                                              ; preds = %157, %154, %151, %145, %131, %110
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %3) #1
  %164 = call preserve_mostcc i64 @dj_map_change(ptr noundef nonnull inttoptr (i64 2087120896 to ptr), ptr noundef %0, i32 noundef %52, i32 noundef 0, i64 noundef 1, ptr noundef nonnull %3) #7
  %165 = load i64, ptr %3, align 8, !tbaa !34
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %3) #1
  br label %_ZN12_GLOBAL__N_16changeEPN2dj3abi3MapEPKmjmPm.exit

_ZN12_GLOBAL__N_16changeEPN2dj3abi3MapEPKmjmPm.exit: ; preds = %.loopexit13.i, %.loopexit12.i, %157, %163
  %166 = phi i64 [ %165, %163 ], [ %125, %157 ], [ 0, %.loopexit12.i ], [ 0, %.loopexit13.i ]
  store i64 %166, ptr %1, align 8, !tbaa !34
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %4) #1
  ret void
}

declare hidden preserve_mostcc i64 @dj_map_change(ptr noundef, ptr noundef, i32 noundef, i32 noundef, i64 noundef, ptr noundef) local_unnamed_addr #5

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write)
declare void @llvm.assume(i1 noundef) #6

; Function Attrs: mustprogress nounwind
define internal fastcc void @dj_map_stat_add(ptr noundef %0, i64 noundef %1) unnamed_addr #4 {
  %3 = load i32, ptr inttoptr (i64 2087272452 to ptr), align 4, !tbaa !36
  %4 = icmp eq i32 %3, 0
  br i1 %4, label %49, label %5

5:                                                ; preds = %2
  %6 = zext i32 %3 to i64
  %xtraiter = and i64 %6, 3
  %7 = icmp ult i32 %3, 4
  br i1 %7, label %.unr-lcssa, label %.new

.new:                                             ; preds = %5
  %unroll_iter = and i64 %6, 4294967292
  br label %18

.unr-lcssa:                                       ; preds = %18, %5
  %.lcssa22.ph = phi i64 [ poison, %5 ], [ %47, %18 ]
  %.unr = phi i64 [ 0, %5 ], [ %48, %18 ]
  %.unr23 = phi i64 [ 0, %5 ], [ %47, %18 ]
  %lcmp.mod.not = icmp eq i64 %xtraiter, 0
  br i1 %lcmp.mod.not, label %.epilog-lcssa, label %.epil.preheader

.epil.preheader:                                  ; preds = %.unr-lcssa, %.epil.preheader
  %8 = phi i64 [ %16, %.epil.preheader ], [ %.unr, %.unr-lcssa ]
  %9 = phi i64 [ %15, %.epil.preheader ], [ %.unr23, %.unr-lcssa ]
  %epil.iter = phi i64 [ %epil.iter.next, %.epil.preheader ], [ 0, %.unr-lcssa ]
  %10 = getelementptr inbounds i64, ptr %0, i64 %8
  %11 = load i64, ptr %10, align 8, !tbaa !34
  %12 = xor i64 %11, %9
  %13 = mul i64 %12, -7046029254386353131
  %14 = lshr i64 %13, 32
  %15 = xor i64 %14, %13
  %16 = add nuw nsw i64 %8, 1
  %epil.iter.next = add i64 %epil.iter, 1
  %epil.iter.cmp.not = icmp eq i64 %epil.iter.next, %xtraiter
  br i1 %epil.iter.cmp.not, label %.epilog-lcssa, label %.epil.preheader, !llvm.loop !65

.epilog-lcssa:                                    ; preds = %.epil.preheader, %.unr-lcssa
  %.lcssa22 = phi i64 [ %.lcssa22.ph, %.unr-lcssa ], [ %15, %.epil.preheader ]
  %17 = trunc i64 %.lcssa22 to i32
  br label %49

18:                                               ; preds = %18, %.new
  %19 = phi i64 [ 0, %.new ], [ %48, %18 ]
  %20 = phi i64 [ 0, %.new ], [ %47, %18 ]
  %niter = phi i64 [ 0, %.new ], [ %niter.next.3, %18 ]
  %21 = getelementptr inbounds i64, ptr %0, i64 %19
  %22 = load i64, ptr %21, align 8, !tbaa !34
  %23 = xor i64 %22, %20
  %24 = mul i64 %23, -7046029254386353131
  %25 = lshr i64 %24, 32
  %26 = or disjoint i64 %19, 1
  %27 = getelementptr inbounds i64, ptr %0, i64 %26
  %28 = load i64, ptr %27, align 8, !tbaa !34
  %29 = xor i64 %25, %28
  %30 = xor i64 %29, %24
  %31 = mul i64 %30, -7046029254386353131
  %32 = lshr i64 %31, 32
  %33 = or disjoint i64 %19, 2
  %34 = getelementptr inbounds i64, ptr %0, i64 %33
  %35 = load i64, ptr %34, align 8, !tbaa !34
  %36 = xor i64 %32, %35
  %37 = xor i64 %36, %31
  %38 = mul i64 %37, -7046029254386353131
  %39 = lshr i64 %38, 32
  %40 = or disjoint i64 %19, 3
  %41 = getelementptr inbounds i64, ptr %0, i64 %40
  %42 = load i64, ptr %41, align 8, !tbaa !34
  %43 = xor i64 %39, %42
  %44 = xor i64 %43, %38
  %45 = mul i64 %44, -7046029254386353131
  %46 = lshr i64 %45, 32
  %47 = xor i64 %46, %45
  %48 = add nuw nsw i64 %19, 4
  %niter.next.3 = add i64 %niter, 4
  %niter.ncmp.3 = icmp eq i64 %niter.next.3, %unroll_iter
  br i1 %niter.ncmp.3, label %.unr-lcssa, label %18, !llvm.loop !41

49:                                               ; preds = %.epilog-lcssa, %2
  %50 = phi i32 [ 0, %2 ], [ %17, %.epilog-lcssa ]
  %51 = load i32, ptr inttoptr (i64 2087272516 to ptr), align 4, !tbaa !66
  %52 = icmp eq i32 %51, 0
  br i1 %52, label %.loopexit6, label %53

53:                                               ; preds = %49
  %54 = load i64, ptr inttoptr (i64 2087272472 to ptr), align 8, !tbaa !43
  %55 = add i64 %54, 2087272448
  %56 = inttoptr i64 %55 to ptr
  %57 = load i32, ptr inttoptr (i64 2087272460 to ptr), align 4, !tbaa !47
  %58 = and i32 %57, %50
  %59 = zext i32 %58 to i64
  %60 = getelementptr inbounds i64, ptr %56, i64 %59
  %61 = load atomic i64, ptr %60 acquire, align 8
  br label %62

62:                                               ; preds = %98, %53
  %63 = phi i64 [ %61, %53 ], [ %100, %98 ]
  %64 = phi i32 [ 0, %53 ], [ %101, %98 ]
  %65 = trunc i64 %63 to i32
  %66 = and i32 %65, 16777215
  %67 = add nsw i32 %66, -1
  %68 = load i32, ptr inttoptr (i64 2087272448 to ptr), align 16384, !tbaa !48
  %69 = icmp ult i32 %67, %68
  br i1 %69, label %70, label %.loopexit6, !prof !12

70:                                               ; preds = %62
  %71 = load i64, ptr inttoptr (i64 2087272464 to ptr), align 16, !tbaa !49
  %72 = add i64 %71, 2087272448
  %73 = zext nneg i32 %67 to i64
  %74 = load i32, ptr inttoptr (i64 2087272456 to ptr), align 8, !tbaa !50
  %75 = zext i32 %74 to i64
  %76 = mul nuw nsw i64 %75, %73
  %77 = add i64 %72, %76
  %78 = inttoptr i64 %77 to ptr
  %79 = getelementptr inbounds i8, ptr %78, i64 32
  %80 = load i32, ptr inttoptr (i64 2087272452 to ptr), align 4, !tbaa !36
  %81 = icmp eq i32 %80, 0
  br i1 %81, label %.loopexit7, label %82

82:                                               ; preds = %70
  %83 = zext i32 %80 to i64
  %84 = load i64, ptr %79, align 8, !tbaa !34
  %85 = load i64, ptr %0, align 8, !tbaa !34
  %86 = icmp eq i64 %84, %85
  br i1 %86, label %.preheader, label %98

.preheader:                                       ; preds = %82, %90
  %87 = phi i64 [ %88, %90 ], [ 0, %82 ]
  %88 = add nuw nsw i64 %87, 1
  %89 = icmp eq i64 %88, %83
  br i1 %89, label %.loopexit, label %90, !llvm.loop !51

90:                                               ; preds = %.preheader
  %91 = getelementptr inbounds i64, ptr %79, i64 %88
  %92 = load i64, ptr %91, align 8, !tbaa !34
  %93 = getelementptr inbounds i64, ptr %0, i64 %88
  %94 = load i64, ptr %93, align 8, !tbaa !34
  %95 = icmp eq i64 %92, %94
  br i1 %95, label %.preheader, label %96, !llvm.loop !51

96:                                               ; preds = %90
  %97 = icmp ult i64 %88, %83
  br i1 %97, label %98, label %.loopexit

98:                                               ; preds = %96, %82
  %99 = getelementptr inbounds i8, ptr %78, i64 16
  %100 = load atomic i64, ptr %99 acquire, align 8
  %101 = add nuw nsw i32 %64, 1
  %102 = icmp eq i32 %101, 16
  br i1 %102, label %.loopexit6, label %62, !llvm.loop !59

.loopexit:                                        ; preds = %96, %.preheader
  %103 = icmp eq i32 %66, 0
  br i1 %103, label %.loopexit6, label %.loopexit7, !prof !15

.loopexit6:                                       ; preds = %98, %62, %.loopexit, %49
  tail call preserve_mostcc void @dj_map_add_sample(ptr noundef nonnull inttoptr (i64 2087272448 to ptr), ptr noundef %0, i32 noundef %50, i64 noundef %1) #7
  br label %_ZN2dj5agent8stat_addINS0_9LockedAddEEEvPNS_3abi4StatERKNS3_9StatShapeElT_.exit

.loopexit7:                                       ; preds = %70, %.loopexit
  %104 = phi i64 [ %83, %.loopexit ], [ 0, %70 ]
  %105 = getelementptr inbounds i64, ptr %79, i64 %104
  %106 = atomicrmw add ptr %105, i64 1 monotonic, align 8
  %107 = getelementptr inbounds i8, ptr %105, i64 8
  %108 = atomicrmw add ptr %107, i64 %1 monotonic, align 8
  %109 = getelementptr inbounds i8, ptr %105, i64 16
  %110 = xor i64 %1, 9223372036854775807
  %111 = load atomic i64, ptr %109 monotonic, align 8
  br label %112

112:                                              ; preds = %116, %.loopexit7
  %113 = phi i64 [ %111, %.loopexit7 ], [ %119, %116 ]
  %114 = xor i64 %113, 9223372036854775807
  %115 = icmp sgt i64 %114, %1
  br i1 %115, label %116, label %120

116:                                              ; preds = %112
  %117 = cmpxchg ptr %109, i64 %113, i64 %110 monotonic monotonic, align 8
  %118 = extractvalue { i64, i1 } %117, 1
  %119 = extractvalue { i64, i1 } %117, 0
  br i1 %118, label %120, label %112, !llvm.loop !67

120:                                              ; preds = %116, %112
  %121 = getelementptr inbounds i8, ptr %105, i64 24
  %122 = xor i64 %1, -9223372036854775808
  %123 = load atomic i64, ptr %121 monotonic, align 8
  br label %124

124:                                              ; preds = %128, %120
  %125 = phi i64 [ %123, %120 ], [ %131, %128 ]
  %126 = xor i64 %125, -9223372036854775808
  %127 = icmp slt i64 %126, %1
  br i1 %127, label %128, label %132

128:                                              ; preds = %124
  %129 = cmpxchg ptr %121, i64 %125, i64 %122 monotonic monotonic, align 8
  %130 = extractvalue { i64, i1 } %129, 1
  %131 = extractvalue { i64, i1 } %129, 0
  br i1 %130, label %132, label %124, !llvm.loop !68

132:                                              ; preds = %128, %124
  %133 = load i32, ptr inttoptr (i64 2087272484 to ptr), align 4, !tbaa !69
  %134 = icmp eq i32 %133, 0
  br i1 %134, label %143, label %135

135:                                              ; preds = %132
  %136 = getelementptr inbounds i8, ptr %105, i64 32
  %137 = icmp sgt i64 %1, 0
  %138 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %1, i1 true)
  %139 = sub nuw nsw i64 129, %138
  %140 = select i1 %137, i64 %139, i64 65, !prof !12
  %141 = getelementptr inbounds i64, ptr %136, i64 %140
  %142 = atomicrmw add ptr %141, i64 1 monotonic, align 8
  br label %143

143:                                              ; preds = %135, %132
  %144 = load i32, ptr inttoptr (i64 2087272488 to ptr), align 8, !tbaa !70
  %145 = icmp eq i32 %144, 0
  br i1 %145, label %167, label %146

146:                                              ; preds = %143
  %147 = getelementptr inbounds i8, ptr %105, i64 32
  %148 = load i32, ptr inttoptr (i64 2087272484 to ptr), align 4, !tbaa !69
  %149 = icmp eq i32 %148, 0
  %150 = select i1 %149, i64 0, i64 130
  %151 = getelementptr inbounds i64, ptr %147, i64 %150
  %152 = load i64, ptr inttoptr (i64 2087272496 to ptr), align 16, !tbaa !71
  %153 = icmp sgt i64 %152, %1
  br i1 %153, label %163, label %154

154:                                              ; preds = %146
  %155 = load i64, ptr inttoptr (i64 2087272504 to ptr), align 8, !tbaa !72
  %156 = tail call i64 @llvm.smax.i64(i64 %155, i64 1)
  %157 = sub i64 %1, %152
  %158 = udiv i64 %157, %156
  %159 = add i32 %144, -1
  %160 = zext i32 %159 to i64
  %161 = add i64 %158, 1
  %162 = tail call i64 @llvm.umin.i64(i64 %161, i64 %160)
  br label %163

163:                                              ; preds = %154, %146
  %164 = phi i64 [ %162, %154 ], [ 0, %146 ]
  %165 = getelementptr inbounds i64, ptr %151, i64 %164
  %166 = atomicrmw add ptr %165, i64 1 monotonic, align 8
  br label %167

167:                                              ; preds = %163, %143
  %168 = load i32, ptr inttoptr (i64 2087272492 to ptr), align 4, !tbaa !73
  %169 = and i32 %168, 1
  %170 = icmp eq i32 %169, 0
  br i1 %170, label %186, label %171

171:                                              ; preds = %167
  %172 = mul i64 %1, %1
  %173 = getelementptr inbounds i8, ptr %105, i64 32
  %174 = load i32, ptr inttoptr (i64 2087272484 to ptr), align 4, !tbaa !69
  %175 = icmp eq i32 %174, 0
  %176 = select i1 %175, i64 0, i64 130
  %177 = getelementptr inbounds i64, ptr %173, i64 %176
  %178 = load i32, ptr inttoptr (i64 2087272488 to ptr), align 8, !tbaa !70
  %179 = zext i32 %178 to i64
  %180 = getelementptr inbounds i64, ptr %177, i64 %179
  %181 = atomicrmw add ptr %180, i64 %172 monotonic, align 8
  %182 = xor i64 %172, -1
  %.not.i = icmp ugt i64 %181, %182
  br i1 %.not.i, label %183, label %186

183:                                              ; preds = %171
  %184 = getelementptr inbounds i8, ptr %180, i64 8
  %185 = atomicrmw add ptr %184, i64 1 monotonic, align 8
  br label %186

186:                                              ; preds = %183, %171, %167
  %187 = load i32, ptr inttoptr (i64 2087272492 to ptr), align 4, !tbaa !73
  %188 = and i32 %187, 2
  %189 = icmp eq i32 %188, 0
  br i1 %189, label %_ZN2dj5agent8stat_addINS0_9LockedAddEEEvPNS_3abi4StatERKNS3_9StatShapeElT_.exit, label %190

190:                                              ; preds = %186
  %191 = getelementptr inbounds i8, ptr %105, i64 32
  %192 = load i32, ptr inttoptr (i64 2087272484 to ptr), align 4, !tbaa !69
  %193 = icmp eq i32 %192, 0
  %194 = select i1 %193, i64 0, i64 130
  %195 = getelementptr inbounds i64, ptr %191, i64 %194
  %196 = load i32, ptr inttoptr (i64 2087272488 to ptr), align 8, !tbaa !70
  %197 = zext i32 %196 to i64
  %198 = getelementptr inbounds i64, ptr %195, i64 %197
  %199 = shl i32 %187, 1
  %200 = and i32 %199, 2
  %201 = zext nneg i32 %200 to i64
  %202 = getelementptr inbounds i64, ptr %198, i64 %201
  %203 = tail call i64 @llvm.abs.i64(i64 %1, i1 false)
  %204 = icmp ugt i64 %203, 15
  br i1 %204, label %205, label %212

205:                                              ; preds = %190
  %206 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %203, i1 true)
  %207 = sub nuw nsw i64 59, %206
  %208 = lshr i64 %203, %207
  %209 = and i64 %208, 15
  %210 = shl nuw nsw i64 %206, 4
  %reass.sub = sub nsw i64 %209, %210
  %211 = add nsw i64 %reass.sub, 960
  br label %212

212:                                              ; preds = %205, %190
  %213 = phi i64 [ %211, %205 ], [ %203, %190 ]
  %214 = getelementptr i64, ptr %202, i64 %213
  %215 = getelementptr i8, ptr %214, i64 7808
  %216 = atomicrmw add ptr %215, i64 1 monotonic, align 8
  br label %_ZN2dj5agent8stat_addINS0_9LockedAddEEEvPNS_3abi4StatERKNS3_9StatShapeElT_.exit

_ZN2dj5agent8stat_addINS0_9LockedAddEEEvPNS_3abi4StatERKNS3_9StatShapeElT_.exit: ; preds = %212, %186, %.loopexit6
  ret void
}

declare hidden preserve_mostcc void @dj_map_add_sample(ptr noundef, ptr noundef, i32 noundef, i64 noundef) local_unnamed_addr #5

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.ctlz.i64(i64, i1 immarg) #3

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smax.i64(i64, i64) #3

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #3

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.abs.i64(i64, i1 immarg) #3

; Function Attrs: mustprogress nounwind
define internal fastcc void @dj_stat_add(i64 noundef %0) unnamed_addr #4 {
  %2 = load i32, ptr inttoptr (i64 2082787340 to ptr), align 4, !tbaa !18
  %3 = tail call noundef i32 asm sideeffect "movl %fs:dj_rseq+4, $0", "=r,~{dirflag},~{fpsr},~{flags}"() #1, !srcloc !74
  %4 = tail call i32 @llvm.umin.i32(i32 %3, i32 %2)
  %5 = zext i32 %4 to i64
  %6 = shl nuw nsw i64 %5, 7
  %7 = getelementptr inbounds i8, ptr inttoptr (i64 2087268736 to ptr), i64 %6
  %8 = load i32, ptr inttoptr (i64 2087268620 to ptr), align 4, !tbaa !73
  %9 = and i32 %8, 4
  %10 = icmp eq i32 %9, 0
  br i1 %10, label %11, label %122

11:                                               ; preds = %1
  %12 = atomicrmw add ptr %7, i64 1 monotonic, align 8
  %13 = getelementptr inbounds i8, ptr %7, i64 8
  %14 = atomicrmw add ptr %13, i64 %0 monotonic, align 8
  %15 = getelementptr inbounds i8, ptr %7, i64 16
  %16 = xor i64 %0, 9223372036854775807
  %17 = load atomic i64, ptr %15 monotonic, align 16
  br label %18

18:                                               ; preds = %22, %11
  %19 = phi i64 [ %17, %11 ], [ %25, %22 ]
  %20 = xor i64 %19, 9223372036854775807
  %21 = icmp sgt i64 %20, %0
  br i1 %21, label %22, label %26

22:                                               ; preds = %18
  %23 = cmpxchg ptr %15, i64 %19, i64 %16 monotonic monotonic, align 8
  %24 = extractvalue { i64, i1 } %23, 1
  %25 = extractvalue { i64, i1 } %23, 0
  br i1 %24, label %26, label %18, !llvm.loop !67

26:                                               ; preds = %22, %18
  %27 = getelementptr inbounds i8, ptr %7, i64 24
  %28 = xor i64 %0, -9223372036854775808
  %29 = load atomic i64, ptr %27 monotonic, align 8
  br label %30

30:                                               ; preds = %34, %26
  %31 = phi i64 [ %29, %26 ], [ %37, %34 ]
  %32 = xor i64 %31, -9223372036854775808
  %33 = icmp slt i64 %32, %0
  br i1 %33, label %34, label %38

34:                                               ; preds = %30
  %35 = cmpxchg ptr %27, i64 %31, i64 %28 monotonic monotonic, align 8
  %36 = extractvalue { i64, i1 } %35, 1
  %37 = extractvalue { i64, i1 } %35, 0
  br i1 %36, label %38, label %30, !llvm.loop !68

38:                                               ; preds = %34, %30
  %39 = load i32, ptr inttoptr (i64 2087268612 to ptr), align 4, !tbaa !69
  %40 = icmp eq i32 %39, 0
  br i1 %40, label %49, label %41

41:                                               ; preds = %38
  %42 = getelementptr inbounds i8, ptr %7, i64 32
  %43 = icmp sgt i64 %0, 0
  %44 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %0, i1 true)
  %45 = sub nuw nsw i64 129, %44
  %46 = select i1 %43, i64 %45, i64 65, !prof !12
  %47 = getelementptr inbounds i64, ptr %42, i64 %46
  %48 = atomicrmw add ptr %47, i64 1 monotonic, align 8
  br label %49

49:                                               ; preds = %41, %38
  %50 = load i32, ptr inttoptr (i64 2087268616 to ptr), align 8, !tbaa !70
  %51 = icmp eq i32 %50, 0
  br i1 %51, label %73, label %52

52:                                               ; preds = %49
  %53 = getelementptr inbounds i8, ptr %7, i64 32
  %54 = load i32, ptr inttoptr (i64 2087268612 to ptr), align 4, !tbaa !69
  %55 = icmp eq i32 %54, 0
  %56 = select i1 %55, i64 0, i64 130
  %57 = getelementptr inbounds i64, ptr %53, i64 %56
  %58 = load i64, ptr inttoptr (i64 2087268624 to ptr), align 16, !tbaa !71
  %59 = icmp sgt i64 %58, %0
  br i1 %59, label %69, label %60

60:                                               ; preds = %52
  %61 = load i64, ptr inttoptr (i64 2087268632 to ptr), align 8, !tbaa !72
  %62 = tail call i64 @llvm.smax.i64(i64 %61, i64 1)
  %63 = sub i64 %0, %58
  %64 = udiv i64 %63, %62
  %65 = add i32 %50, -1
  %66 = zext i32 %65 to i64
  %67 = add i64 %64, 1
  %68 = tail call i64 @llvm.umin.i64(i64 %67, i64 %66)
  br label %69

69:                                               ; preds = %60, %52
  %70 = phi i64 [ %68, %60 ], [ 0, %52 ]
  %71 = getelementptr inbounds i64, ptr %57, i64 %70
  %72 = atomicrmw add ptr %71, i64 1 monotonic, align 8
  br label %73

73:                                               ; preds = %69, %49
  %74 = load i32, ptr inttoptr (i64 2087268620 to ptr), align 4, !tbaa !73
  %75 = and i32 %74, 1
  %76 = icmp eq i32 %75, 0
  br i1 %76, label %92, label %77

77:                                               ; preds = %73
  %78 = mul i64 %0, %0
  %79 = getelementptr inbounds i8, ptr %7, i64 32
  %80 = load i32, ptr inttoptr (i64 2087268612 to ptr), align 4, !tbaa !69
  %81 = icmp eq i32 %80, 0
  %82 = select i1 %81, i64 0, i64 130
  %83 = getelementptr inbounds i64, ptr %79, i64 %82
  %84 = load i32, ptr inttoptr (i64 2087268616 to ptr), align 8, !tbaa !70
  %85 = zext i32 %84 to i64
  %86 = getelementptr inbounds i64, ptr %83, i64 %85
  %87 = atomicrmw add ptr %86, i64 %78 monotonic, align 8
  %88 = xor i64 %78, -1
  %.not.i = icmp ugt i64 %87, %88
  br i1 %.not.i, label %89, label %92

89:                                               ; preds = %77
  %90 = getelementptr inbounds i8, ptr %86, i64 8
  %91 = atomicrmw add ptr %90, i64 1 monotonic, align 8
  br label %92

92:                                               ; preds = %89, %77, %73
  %93 = load i32, ptr inttoptr (i64 2087268620 to ptr), align 4, !tbaa !73
  %94 = and i32 %93, 2
  %95 = icmp eq i32 %94, 0
  br i1 %95, label %_ZN2dj5agent8stat_addINS0_9LockedAddEEEvPNS_3abi4StatERKNS3_9StatShapeElT_.exit, label %96

96:                                               ; preds = %92
  %97 = getelementptr inbounds i8, ptr %7, i64 32
  %98 = load i32, ptr inttoptr (i64 2087268612 to ptr), align 4, !tbaa !69
  %99 = icmp eq i32 %98, 0
  %100 = select i1 %99, i64 0, i64 130
  %101 = getelementptr inbounds i64, ptr %97, i64 %100
  %102 = load i32, ptr inttoptr (i64 2087268616 to ptr), align 8, !tbaa !70
  %103 = zext i32 %102 to i64
  %104 = getelementptr inbounds i64, ptr %101, i64 %103
  %105 = shl i32 %93, 1
  %106 = and i32 %105, 2
  %107 = zext nneg i32 %106 to i64
  %108 = getelementptr inbounds i64, ptr %104, i64 %107
  %109 = tail call i64 @llvm.abs.i64(i64 %0, i1 false)
  %110 = icmp ugt i64 %109, 15
  br i1 %110, label %111, label %118

111:                                              ; preds = %96
  %112 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %109, i1 true)
  %113 = sub nuw nsw i64 59, %112
  %114 = lshr i64 %109, %113
  %115 = and i64 %114, 15
  %116 = shl nuw nsw i64 %112, 4
  %reass.sub7 = sub nsw i64 %115, %116
  %117 = add nsw i64 %reass.sub7, 960
  br label %118

118:                                              ; preds = %111, %96
  %119 = phi i64 [ %117, %111 ], [ %109, %96 ]
  %120 = getelementptr i64, ptr %108, i64 %119
  %121 = getelementptr i8, ptr %120, i64 7808
  br label %_ZN2dj5agent8stat_addINS0_9LockedAddEEEvPNS_3abi4StatERKNS3_9StatShapeElT_.exit.sink.split

122:                                              ; preds = %1
  %123 = ptrtoint ptr %7 to i64
  callbr void asm sideeffect ".pushsection .dj_rseq_cs, \22a\22\0A.balign 32\0A3: .long 0, 0\0A   .quad 1f, 2f - 1f, 4f\0A.popsection\0A.pushsection .text.dj_rseq_abort, \22ax\22\0A   .byte 0x0f, 0xb9, 0x3d\0A   .long 0x53053053\0A4: jmp 5f\0A.popsection\0A5: leaq 3b(%rip), %r11\0A   movq %r11, %fs:dj_rseq+8\0A1: movl %fs:dj_rseq+4, %r11d\0A   shll $1, %r11d\0A   js ${3:l}\0A   addq $2, ${0:c}(%r11)\0A2:\0A", "i,i,er,!i,~{r11},~{memory},~{cc},~{dirflag},~{fpsr},~{flags}"(i64 2087268736, i32 7, i64 1) #1
          to label %131 [label %124], !srcloc !75

124:                                              ; preds = %122
  %125 = load i32, ptr inttoptr (i64 2082787340 to ptr), align 4, !tbaa !18
  %126 = zext i32 %125 to i64
  %127 = shl nuw nsw i64 %126, 7
  %128 = add nuw nsw i64 %127, 2087268736
  %129 = inttoptr i64 %128 to ptr
  %130 = atomicrmw add ptr %129, i64 1 monotonic, align 8
  br label %131

131:                                              ; preds = %124, %122
  callbr void asm sideeffect ".pushsection .dj_rseq_cs, \22a\22\0A.balign 32\0A3: .long 0, 0\0A   .quad 1f, 2f - 1f, 4f\0A.popsection\0A.pushsection .text.dj_rseq_abort, \22ax\22\0A   .byte 0x0f, 0xb9, 0x3d\0A   .long 0x53053053\0A4: jmp 5f\0A.popsection\0A5: leaq 3b(%rip), %r11\0A   movq %r11, %fs:dj_rseq+8\0A1: movl %fs:dj_rseq+4, %r11d\0A   shll $1, %r11d\0A   js ${3:l}\0A   addq $2, ${0:c}(%r11)\0A2:\0A", "i,i,er,!i,~{r11},~{memory},~{cc},~{dirflag},~{fpsr},~{flags}"(i64 2087268744, i32 7, i64 %0) #1
          to label %139 [label %132], !srcloc !75

132:                                              ; preds = %131
  %133 = load i32, ptr inttoptr (i64 2082787340 to ptr), align 4, !tbaa !18
  %134 = zext i32 %133 to i64
  %135 = shl nuw nsw i64 %134, 7
  %136 = add nuw nsw i64 %135, 2087268744
  %137 = inttoptr i64 %136 to ptr
  %138 = atomicrmw add ptr %137, i64 %0 monotonic, align 8
  br label %139

139:                                              ; preds = %132, %131
  %140 = getelementptr inbounds i8, ptr %7, i64 16
  %141 = xor i64 %0, 9223372036854775807
  %142 = load atomic i64, ptr %140 monotonic, align 16
  br label %143

143:                                              ; preds = %147, %139
  %144 = phi i64 [ %142, %139 ], [ %150, %147 ]
  %145 = xor i64 %144, 9223372036854775807
  %146 = icmp sgt i64 %145, %0
  br i1 %146, label %147, label %151

147:                                              ; preds = %143
  %148 = cmpxchg ptr %140, i64 %144, i64 %141 monotonic monotonic, align 8
  %149 = extractvalue { i64, i1 } %148, 1
  %150 = extractvalue { i64, i1 } %148, 0
  br i1 %149, label %151, label %143, !llvm.loop !76

151:                                              ; preds = %147, %143
  %152 = getelementptr inbounds i8, ptr %7, i64 24
  %153 = xor i64 %0, -9223372036854775808
  %154 = load atomic i64, ptr %152 monotonic, align 8
  br label %155

155:                                              ; preds = %159, %151
  %156 = phi i64 [ %154, %151 ], [ %162, %159 ]
  %157 = xor i64 %156, -9223372036854775808
  %158 = icmp slt i64 %157, %0
  br i1 %158, label %159, label %163

159:                                              ; preds = %155
  %160 = cmpxchg ptr %152, i64 %156, i64 %153 monotonic monotonic, align 8
  %161 = extractvalue { i64, i1 } %160, 1
  %162 = extractvalue { i64, i1 } %160, 0
  br i1 %161, label %163, label %155, !llvm.loop !77

163:                                              ; preds = %159, %155
  %164 = load i32, ptr inttoptr (i64 2087268612 to ptr), align 4, !tbaa !69
  %165 = icmp eq i32 %164, 0
  br i1 %165, label %183, label %166

166:                                              ; preds = %163
  %167 = getelementptr inbounds i8, ptr %7, i64 32
  %168 = icmp sgt i64 %0, 0
  %169 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %0, i1 true)
  %170 = sub nuw nsw i64 129, %169
  %171 = select i1 %168, i64 %170, i64 65, !prof !12
  %172 = getelementptr inbounds i64, ptr %167, i64 %171
  %173 = ptrtoint ptr %172 to i64
  %174 = sub nsw i64 %173, %123
  %175 = add i64 %174, 2087268736
  callbr void asm sideeffect ".pushsection .dj_rseq_cs, \22a\22\0A.balign 32\0A3: .long 0, 0\0A   .quad 1f, 2f - 1f, 4f\0A.popsection\0A.pushsection .text.dj_rseq_abort, \22ax\22\0A   .byte 0x0f, 0xb9, 0x3d\0A   .long 0x53053053\0A4: jmp 5f\0A.popsection\0A5: leaq 3b(%rip), %r11\0A   movq %r11, %fs:dj_rseq+8\0A1: movl %fs:dj_rseq+4, %r11d\0A   shll $1, %r11d\0A   js ${3:l}\0A   addq $2, ($0,%r11)\0A2:\0A", "r,i,er,!i,~{r11},~{memory},~{cc},~{dirflag},~{fpsr},~{flags}"(i64 %175, i32 7, i64 1) #1
          to label %183 [label %176], !srcloc !78

176:                                              ; preds = %166
  %177 = load i32, ptr inttoptr (i64 2082787340 to ptr), align 4, !tbaa !18
  %178 = zext i32 %177 to i64
  %179 = shl nuw nsw i64 %178, 7
  %180 = add i64 %179, %175
  %181 = inttoptr i64 %180 to ptr
  %182 = atomicrmw add ptr %181, i64 1 monotonic, align 8
  br label %183

183:                                              ; preds = %176, %166, %163
  %184 = load i32, ptr inttoptr (i64 2087268616 to ptr), align 8, !tbaa !70
  %185 = icmp eq i32 %184, 0
  br i1 %185, label %216, label %186

186:                                              ; preds = %183
  %187 = getelementptr inbounds i8, ptr %7, i64 32
  %188 = load i32, ptr inttoptr (i64 2087268612 to ptr), align 4, !tbaa !69
  %189 = icmp eq i32 %188, 0
  %190 = select i1 %189, i64 0, i64 130
  %191 = getelementptr inbounds i64, ptr %187, i64 %190
  %192 = load i64, ptr inttoptr (i64 2087268624 to ptr), align 16, !tbaa !71
  %193 = icmp sgt i64 %192, %0
  br i1 %193, label %203, label %194

194:                                              ; preds = %186
  %195 = load i64, ptr inttoptr (i64 2087268632 to ptr), align 8, !tbaa !72
  %196 = tail call i64 @llvm.smax.i64(i64 %195, i64 1)
  %197 = sub i64 %0, %192
  %198 = udiv i64 %197, %196
  %199 = add i32 %184, -1
  %200 = zext i32 %199 to i64
  %201 = add i64 %198, 1
  %202 = tail call i64 @llvm.umin.i64(i64 %201, i64 %200)
  br label %203

203:                                              ; preds = %194, %186
  %204 = phi i64 [ %202, %194 ], [ 0, %186 ]
  %205 = getelementptr inbounds i64, ptr %191, i64 %204
  %206 = ptrtoint ptr %205 to i64
  %207 = sub i64 %206, %123
  %208 = add i64 %207, 2087268736
  callbr void asm sideeffect ".pushsection .dj_rseq_cs, \22a\22\0A.balign 32\0A3: .long 0, 0\0A   .quad 1f, 2f - 1f, 4f\0A.popsection\0A.pushsection .text.dj_rseq_abort, \22ax\22\0A   .byte 0x0f, 0xb9, 0x3d\0A   .long 0x53053053\0A4: jmp 5f\0A.popsection\0A5: leaq 3b(%rip), %r11\0A   movq %r11, %fs:dj_rseq+8\0A1: movl %fs:dj_rseq+4, %r11d\0A   shll $1, %r11d\0A   js ${3:l}\0A   addq $2, ($0,%r11)\0A2:\0A", "r,i,er,!i,~{r11},~{memory},~{cc},~{dirflag},~{fpsr},~{flags}"(i64 %208, i32 7, i64 1) #1
          to label %216 [label %209], !srcloc !78

209:                                              ; preds = %203
  %210 = load i32, ptr inttoptr (i64 2082787340 to ptr), align 4, !tbaa !18
  %211 = zext i32 %210 to i64
  %212 = shl nuw nsw i64 %211, 7
  %213 = add i64 %212, %208
  %214 = inttoptr i64 %213 to ptr
  %215 = atomicrmw add ptr %214, i64 1 monotonic, align 8
  br label %216

216:                                              ; preds = %209, %203, %183
  %217 = load i32, ptr inttoptr (i64 2087268620 to ptr), align 4, !tbaa !73
  %218 = and i32 %217, 1
  %219 = icmp eq i32 %218, 0
  br i1 %219, label %235, label %220

220:                                              ; preds = %216
  %221 = mul i64 %0, %0
  %222 = getelementptr inbounds i8, ptr %7, i64 32
  %223 = load i32, ptr inttoptr (i64 2087268612 to ptr), align 4, !tbaa !69
  %224 = icmp eq i32 %223, 0
  %225 = select i1 %224, i64 0, i64 130
  %226 = getelementptr inbounds i64, ptr %222, i64 %225
  %227 = load i32, ptr inttoptr (i64 2087268616 to ptr), align 8, !tbaa !70
  %228 = zext i32 %227 to i64
  %229 = getelementptr inbounds i64, ptr %226, i64 %228
  %230 = atomicrmw add ptr %229, i64 %221 monotonic, align 8
  %231 = xor i64 %221, -1
  %.not = icmp ugt i64 %230, %231
  br i1 %.not, label %232, label %235

232:                                              ; preds = %220
  %233 = getelementptr inbounds i8, ptr %229, i64 8
  %234 = atomicrmw add ptr %233, i64 1 monotonic, align 8
  br label %235

235:                                              ; preds = %232, %220, %216
  %236 = load i32, ptr inttoptr (i64 2087268620 to ptr), align 4, !tbaa !73
  %237 = and i32 %236, 2
  %238 = icmp eq i32 %237, 0
  br i1 %238, label %_ZN2dj5agent8stat_addINS0_9LockedAddEEEvPNS_3abi4StatERKNS3_9StatShapeElT_.exit, label %239

239:                                              ; preds = %235
  %240 = getelementptr inbounds i8, ptr %7, i64 32
  %241 = load i32, ptr inttoptr (i64 2087268612 to ptr), align 4, !tbaa !69
  %242 = icmp eq i32 %241, 0
  %243 = select i1 %242, i64 0, i64 130
  %244 = getelementptr inbounds i64, ptr %240, i64 %243
  %245 = load i32, ptr inttoptr (i64 2087268616 to ptr), align 8, !tbaa !70
  %246 = zext i32 %245 to i64
  %247 = getelementptr inbounds i64, ptr %244, i64 %246
  %248 = shl i32 %236, 1
  %249 = and i32 %248, 2
  %250 = zext nneg i32 %249 to i64
  %251 = getelementptr inbounds i64, ptr %247, i64 %250
  %252 = tail call i64 @llvm.abs.i64(i64 %0, i1 false)
  %253 = icmp ugt i64 %252, 15
  br i1 %253, label %254, label %261

254:                                              ; preds = %239
  %255 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %252, i1 true)
  %256 = sub nuw nsw i64 59, %255
  %257 = lshr i64 %252, %256
  %258 = and i64 %257, 15
  %259 = shl nuw nsw i64 %255, 4
  %reass.sub = sub nsw i64 %258, %259
  %260 = add nsw i64 %reass.sub, 960
  br label %261

261:                                              ; preds = %254, %239
  %262 = phi i64 [ %260, %254 ], [ %252, %239 ]
  %263 = getelementptr i64, ptr %251, i64 %262
  %264 = getelementptr i8, ptr %263, i64 7808
  %265 = ptrtoint ptr %264 to i64
  %266 = sub i64 %265, %123
  %267 = add i64 %266, 2087268736
  callbr void asm sideeffect ".pushsection .dj_rseq_cs, \22a\22\0A.balign 32\0A3: .long 0, 0\0A   .quad 1f, 2f - 1f, 4f\0A.popsection\0A.pushsection .text.dj_rseq_abort, \22ax\22\0A   .byte 0x0f, 0xb9, 0x3d\0A   .long 0x53053053\0A4: jmp 5f\0A.popsection\0A5: leaq 3b(%rip), %r11\0A   movq %r11, %fs:dj_rseq+8\0A1: movl %fs:dj_rseq+4, %r11d\0A   shll $1, %r11d\0A   js ${3:l}\0A   addq $2, ($0,%r11)\0A2:\0A", "r,i,er,!i,~{r11},~{memory},~{cc},~{dirflag},~{fpsr},~{flags}"(i64 %267, i32 7, i64 1) #1
          to label %_ZN2dj5agent8stat_addINS0_9LockedAddEEEvPNS_3abi4StatERKNS3_9StatShapeElT_.exit [label %268], !srcloc !78

268:                                              ; preds = %261
  %269 = load i32, ptr inttoptr (i64 2082787340 to ptr), align 4, !tbaa !18
  %270 = zext i32 %269 to i64
  %271 = shl nuw nsw i64 %270, 7
  %272 = add i64 %271, %267
  %273 = inttoptr i64 %272 to ptr
  br label %_ZN2dj5agent8stat_addINS0_9LockedAddEEEvPNS_3abi4StatERKNS3_9StatShapeElT_.exit.sink.split

_ZN2dj5agent8stat_addINS0_9LockedAddEEEvPNS_3abi4StatERKNS3_9StatShapeElT_.exit.sink.split: ; preds = %268, %118
  %.sink = phi ptr [ %121, %118 ], [ %273, %268 ]
  %274 = atomicrmw add ptr %.sink, i64 1 monotonic, align 8
  br label %_ZN2dj5agent8stat_addINS0_9LockedAddEEEvPNS_3abi4StatERKNS3_9StatShapeElT_.exit

_ZN2dj5agent8stat_addINS0_9LockedAddEEEvPNS_3abi4StatERKNS3_9StatShapeElT_.exit: ; preds = %_ZN2dj5agent8stat_addINS0_9LockedAddEEEvPNS_3abi4StatERKNS3_9StatShapeElT_.exit.sink.split, %92, %261, %235
  ret void
}

declare hidden preserve_mostcc i32 @dj_told_thread_id() local_unnamed_addr #5

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.fshl.i64(i64, i64, i64) #3

declare hidden preserve_mostcc i32 @dj_ask_thread_id() local_unnamed_addr #5

attributes #0 = { noimplicitfloat noredzone nounwind "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "target-cpu"="x86-64" "target-features"="+cmov,+cx16,+cx8,+fxsr,-aes,-avx,-avx10.1-256,-avx10.1-512,-avx2,-avx512bf16,-avx512bitalg,-avx512bw,-avx512cd,-avx512dq,-avx512f,-avx512fp16,-avx512ifma,-avx512vbmi,-avx512vbmi2,-avx512vl,-avx512vnni,-avx512vp2intersect,-avx512vpopcntdq,-avxifma,-avxneconvert,-avxvnni,-avxvnniint16,-avxvnniint8,-f16c,-fma,-fma4,-gfni,-kl,-mmx,-pclmul,-sha,-sha512,-sm3,-sm4,-sse,-sse2,-sse3,-sse4.1,-sse4.2,-sse4a,-ssse3,-vaes,-vpclmulqdq,-widekl,-x87,-xop" "tune-cpu"="generic" }
attributes #1 = { nounwind }
attributes #2 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #3 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #4 = { mustprogress nounwind "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx16,+cx8,+fxsr,-aes,-avx,-avx10.1-256,-avx10.1-512,-avx2,-avx512bf16,-avx512bitalg,-avx512bw,-avx512cd,-avx512dq,-avx512f,-avx512fp16,-avx512ifma,-avx512vbmi,-avx512vbmi2,-avx512vl,-avx512vnni,-avx512vp2intersect,-avx512vpopcntdq,-avxifma,-avxneconvert,-avxvnni,-avxvnniint16,-avxvnniint8,-f16c,-fma,-fma4,-gfni,-kl,-mmx,-pclmul,-sha,-sha512,-sm3,-sm4,-sse,-sse2,-sse3,-sse4.1,-sse4.2,-sse4a,-ssse3,-vaes,-vpclmulqdq,-widekl,-x87,-xop" "tune-cpu"="generic" }
attributes #5 = { "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx16,+cx8,+fxsr,-aes,-avx,-avx10.1-256,-avx10.1-512,-avx2,-avx512bf16,-avx512bitalg,-avx512bw,-avx512cd,-avx512dq,-avx512f,-avx512fp16,-avx512ifma,-avx512vbmi,-avx512vbmi2,-avx512vl,-avx512vnni,-avx512vp2intersect,-avx512vpopcntdq,-avxifma,-avxneconvert,-avxvnni,-avxvnniint16,-avxvnniint8,-f16c,-fma,-fma4,-gfni,-kl,-mmx,-pclmul,-sha,-sha512,-sm3,-sm4,-sse,-sse2,-sse3,-sse4.1,-sse4.2,-sse4a,-ssse3,-vaes,-vpclmulqdq,-widekl,-x87,-xop" "tune-cpu"="generic" }
attributes #6 = { mustprogress nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write) }
attributes #7 = { nobuiltin nounwind "no-builtins" }

!llvm.module.flags = !{!0, !1, !2, !3, !4}

!0 = !{i32 8, !"PIC Level", i32 1}
!1 = !{i32 7, !"PIE Level", i32 1}
!2 = !{i32 1, !"wchar_size", i32 4}
!3 = !{i32 7, !"direct-access-external-data", i32 1}
!4 = !{i32 1, !"EnableSplitLTOUnit", i32 0}
!5 = !{!6, !7, i64 208}
!6 = !{!"_ZTSN2dj3abi6HeaderE", !7, i64 0, !10, i64 8, !10, i64 12, !7, i64 16, !7, i64 24, !7, i64 32, !10, i64 40, !10, i64 44, !7, i64 48, !7, i64 56, !7, i64 64, !10, i64 72, !10, i64 76, !7, i64 80, !7, i64 88, !7, i64 96, !10, i64 104, !10, i64 108, !10, i64 112, !10, i64 116, !7, i64 120, !7, i64 128, !7, i64 136, !7, i64 144, !7, i64 152, !7, i64 160, !7, i64 168, !7, i64 176, !7, i64 184, !7, i64 192, !7, i64 200, !7, i64 208, !11, i64 216, !7, i64 232, !7, i64 240, !8, i64 248, !7, i64 336, !7, i64 344, !7, i64 352}
!7 = !{!"long", !8, i64 0}
!8 = !{!"omnipotent char", !9, i64 0}
!9 = !{!"Simple C++ TBAA"}
!10 = !{!"int", !8, i64 0}
!11 = !{!"_ZTSN2dj3abi10LoaderTalkE", !10, i64 0, !10, i64 4, !10, i64 8, !10, i64 12}
!12 = !{!"branch_weights", !"expected", i32 2000, i32 1}
!13 = !{i64 25077}
!14 = !{!6, !7, i64 136}
!15 = !{!"branch_weights", !"expected", i32 0, i32 -2147483648}
!16 = !{i64 21500}
!17 = !{!6, !7, i64 48}
!18 = !{!6, !10, i64 12}
!19 = !{i64 25155}
!20 = !{!6, !7, i64 56}
!21 = !{i64 22007}
!22 = !{!23, !7, i64 136}
!23 = !{!"_ZTSN2dj3abi4RingE", !7, i64 0, !8, i64 8, !7, i64 128, !7, i64 136, !8, i64 144}
!24 = distinct !{!24, !25}
!25 = !{!"llvm.loop.mustprogress"}
!26 = !{!27, !10, i64 16}
!27 = !{!"_ZTSN2dj3abi11EventHeaderE", !7, i64 0, !7, i64 8, !10, i64 16, !28, i64 20, !28, i64 22, !10, i64 24, !10, i64 28}
!28 = !{!"short", !8, i64 0}
!29 = !{!27, !28, i64 20}
!30 = !{!27, !7, i64 8}
!31 = !{!27, !10, i64 28}
!32 = !{!27, !10, i64 24}
!33 = !{!27, !28, i64 22}
!34 = !{!7, !7, i64 0}
!35 = !{}
!36 = !{!37, !10, i64 4}
!37 = !{!"_ZTSN2dj3abi3MapE", !10, i64 0, !10, i64 4, !10, i64 8, !10, i64 12, !7, i64 16, !7, i64 24, !38, i64 32, !10, i64 64, !10, i64 68, !7, i64 72, !10, i64 80, !10, i64 84, !8, i64 88, !7, i64 128, !7, i64 136, !7, i64 144, !8, i64 152}
!38 = !{!"_ZTSN2dj3abi9StatShapeE", !10, i64 0, !10, i64 4, !10, i64 8, !10, i64 12, !7, i64 16, !7, i64 24}
!39 = distinct !{!39, !40}
!40 = !{!"llvm.loop.unroll.disable"}
!41 = distinct !{!41, !25}
!42 = distinct !{!42, !25}
!43 = !{!37, !7, i64 24}
!44 = !{!45}
!45 = distinct !{!45, !46, !"_ZN2dj5agent8map_findEPNS_3abi3MapEPKmj: argument 0"}
!46 = distinct !{!46, !"_ZN2dj5agent8map_findEPNS_3abi3MapEPKmj"}
!47 = !{!37, !10, i64 12}
!48 = !{!37, !10, i64 0}
!49 = !{!37, !7, i64 16}
!50 = !{!37, !10, i64 8}
!51 = distinct !{!51, !25}
!52 = distinct !{!52, !25}
!53 = distinct !{!53, !25}
!54 = !{!37, !7, i64 72}
!55 = !{!37, !10, i64 80}
!56 = !{!37, !10, i64 84}
!57 = distinct !{!57, !25}
!58 = distinct !{!58, !40}
!59 = distinct !{!59, !25, !40}
!60 = !{i64 2147554774, i64 2147553445, i64 2147553523, i64 2147553601, i64 2147553679, i64 2147553757, i64 2147553835, i64 2147553913, i64 2147553991, i64 2147554069, i64 2147554147, i64 2147554225, i64 2147554381, i64 2147554537, i64 2147554693, i64 2147554741, i64 2147554727}
!61 = !{!"branch_weights", i32 2146410443, i32 1073205}
!62 = !{!"branch_weights", i32 1073205, i32 2146410443}
!63 = !{i64 91026}
!64 = !{!"branch_weights", !"expected", i32 -2147483648, i32 0}
!65 = distinct !{!65, !40}
!66 = !{!37, !10, i64 68}
!67 = distinct !{!67, !25}
!68 = distinct !{!68, !25}
!69 = !{!38, !10, i64 4}
!70 = !{!38, !10, i64 8}
!71 = !{!38, !7, i64 16}
!72 = !{!38, !7, i64 24}
!73 = !{!38, !10, i64 12}
!74 = !{i64 25632}
!75 = !{i64 2147545496, i64 2147544163, i64 2147544241, i64 2147544319, i64 2147544397, i64 2147544475, i64 2147544553, i64 2147544631, i64 2147544709, i64 2147544787, i64 2147544865, i64 2147544943, i64 2147545099, i64 2147545255, i64 2147545411, i64 2147545463, i64 2147545445}
!76 = distinct !{!76, !25}
!77 = distinct !{!77, !25}
!78 = !{i64 2147546978, i64 2147545645, i64 2147545723, i64 2147545801, i64 2147545879, i64 2147545957, i64 2147546035, i64 2147546113, i64 2147546191, i64 2147546269, i64 2147546347, i64 2147546425, i64 2147546581, i64 2147546737, i64 2147546893, i64 2147546945, i64 2147546927}

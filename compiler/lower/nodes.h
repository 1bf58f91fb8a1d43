// SPDX-License-Identifier: Apache-2.0
// Nodes: what each node of a Program becomes, one function a node; the comments name their files. A
// new kind of node is a row here and a function in the file of its family: without one the visit in
// body.cpp does not compile. All write at the end of body.code(), and leave it in a block without
// an end.
#pragma once
#include "compiler/lower/body.h"

namespace dj::ir {

// expressions.cpp: literals, variables and reads
Value lower_node(Body& body, const Expr& expr, const IntLit& node);
Value lower_node(Body& body, const Expr& expr, const StrLit& node);
Value lower_node(Body& body, const Expr& expr, const DoubleLit& node);
Value lower_node(Body& body, const Expr& expr, const ToDouble& node);
Value lower_node(Body& body, const Expr& expr, const LocalRef& node);
Value lower_node(Body& body, const Expr& expr, const GlobalRef& node);
Value lower_node(Body& body, const Expr& expr, const ElementRef& node);
Value lower_node(Body& body, const Expr& expr, const InArray& node);
Value lower_node(Body& body, const Expr& expr, const TargetRef& node);
Value lower_node(Body& body, const Expr& expr, const Defined& node);

// operations.cpp
Value lower_node(Body& body, const Expr& expr, const Unary& node);
Value lower_node(Body& body, const Expr& expr, const Binary& node);
Value lower_node(Body& body, const Expr& expr, const Ternary& node);
// One of < <= > >= == !=, as i1.
llvm::Value* comparison(Body& body, const Binary& node);

// assignments.cpp
Value lower_node(Body& body, const Expr& expr, const Assign& node);
Value lower_node(Body& body, const Expr& expr, const Crement& node);

// calls.cpp
Value lower_node(Body& body, const Expr& expr, const CallFunction& node);
Value lower_node(Body& body, const Expr& expr, const Inlined& node);
Value lower_node(Body& body, const Expr& expr, const CallBuiltin& node);
Value lower_node(Body& body, const Expr& expr, const Match& node);

// stats.cpp
Value lower_node(Body& body, const Expr& expr, const StatRead& node);
Value lower_node(Body& body, const Expr& expr, const HistBucket& node);
void lower_node(Body& body, const Stmt& stmt, const StatAdd& node);

// print.cpp
Value lower_node(Body& body, const Expr& expr, const Print& node);
Value lower_node(Body& body, const Expr& expr, const PrintHist& node);

// statements.cpp
void lower_node(Body& body, const Stmt& stmt, const Block& node);
void lower_node(Body& body, const Stmt& stmt, const ExprStmt& node);
void lower_node(Body& body, const Stmt& stmt, const If& node);
void lower_node(Body& body, const Stmt& stmt, const Next& node);
void lower_node(Body& body, const Stmt& stmt, const Return& node);
void lower_node(Body& body, const Stmt& stmt, const DeleteElement& node);
void lower_node(Body& body, const Stmt& stmt, const DeleteGlobal& node);

// loops.cpp
void lower_node(Body& body, const Stmt& stmt, const Loop& node);
void lower_node(Body& body, const Stmt& stmt, const Foreach& node);
void lower_node(Body& body, const Stmt& stmt, const Break& node);
void lower_node(Body& body, const Stmt& stmt, const Continue& node);

// try_catch.cpp
void lower_node(Body& body, const Stmt& stmt, const Try& node);
Value lower_node(Body& body, const Expr& expr, const Caught& node);

// snapshot.cpp
void lower_node(Body& body, const Stmt& stmt, const Snapshot& node);
Value lower_node(Body& body, const Expr& expr, const Take& node);

}  // namespace dj::ir

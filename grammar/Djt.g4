// SPDX-License-Identifier: Apache-2.0
// The djtap script language. Every rule carries one example.
//
// Between the lexer and the parser the tokens pass through filters (compiler/parse): script
// arguments are pasted, "< ... >" bodies get tokens of their own, and tokens whose meaning depends
// on what stands before them are told apart. Separators between statements are optional, so "a -b"
// is a subtraction and "f (x)" a call wherever that is possible; because the filters decide this,
// one token of lookahead decides every rule here, and an error is found at the very token that is
// wrong.
//
// Macros and conditionals are gone before the parser; embedded C is refused there.
grammar Djt;

tokens {
  ANGLE_OPEN, ANGLE_CLOSE,       // '<' and '>' around a probe's body
  CALL_OPEN, INDEX_OPEN,         // '(' and '[' that belong to the operand before them
  SIGN_PLUS, SIGN_MINUS,         // '+' and '-' with no operand before them
  PRE_INC, PRE_DEC, ADDRESS_OF,  // '++', '--' and '&' with no operand before them
  RETURN_VALUE,                  // 'return' that an expression follows
  STRING_MORE                    // a string literal behind a string literal
}

options { superClass = QuickParser; }

@parser::postinclude {
#include "compiler/parse/quick_parser.h"
}

@parser::members {
  // True when the next token begins where the last one ended: probe names are glued from parts.
  bool glued() { return _input->LT(1)->getStartIndex() == _input->LT(-1)->getStopIndex() + 1; }
  // True where a probe without a body may end. Behind "{ x }" the points were forgotten instead.
  bool bare() {
    size_t next = _input->LA(1);
    if (_input->LA(-1) == RBRACE) return false;
    return next == antlr4::Token::EOF || next == SEMICOLON || next == PROBE || next == GLOBAL || next == PRIVATE ||
           next == FUNCTION;
  }
}

script : item* EOF ;

// ';' between items is harmless
item : probeDef | globalDef | functionDef | SEMICOLON ;

// global a, b[100], c = 5        private global d%
globalDef : PRIVATE? GLOBAL globalVar (COMMA globalVar)* SEMICOLON?
          | PRIVATE globalVar (COMMA globalVar)* SEMICOLON? ;
// b%[100]
globalVar : ID PERCENT? ((LBRACKET | INDEX_OPEN) NUMBER RBRACKET)? (ASSIGN initial)? ;
// -1.5
initial : string | SIGN_MINUS? (NUMBER | FRACTION) ;

// function area:long(w:long, h:long) { return w * h }
functionDef : PRIVATE? FUNCTION ID (COLON type)? (LPAREN | CALL_OPEN) (param (COMMA param)*)? RPAREN
              priority? block ;
// w:long
param : ID (COLON type)? ;
type : LONG | STRING_TYPE ;
// function f(x):2 { ... }        overload with a priority
priority : COLON SIGN_MINUS? NUMBER ;

// probe begin, func("main") { ... }        probe func("main")
probeDef : PROBE probePoints (op=(ASSIGN | ADD_ASSIGN) probePoints body (COMMA body)? | body | {bare()}?) ;
// probe name = func("f") { prologue }, { epilogue }
// { count++ }        < count++ >
body : block | ANGLE_OPEN stmt* ANGLE_CLOSE ;
probePoints : probePoint (COMMA probePoint)* ;
// func("main").return?
probePoint : component (DOT component)* (QUESTION | NOT)? (IF LPAREN expr RPAREN)? ;
// func("main")        {entry,return}
component : LBRACE probePoints RBRACE
          | wildName ((LPAREN | CALL_OPEN) literal RPAREN)? ;
// sys*open
wildName : wildPart ({glued()}? (wildPart | NUMBER))* ;
wildPart : ID | keyword | STAR ;
literal : string | SIGN_MINUS? NUMBER ;
// "one " "string"
string : STRING STRING_MORE* ;

// { a = 1; b = 2 }
block : LBRACE stmt* RBRACE ;
stmt : block                                                             # blockStmt
     | SEMICOLON                                                         # emptyStmt
     // if (a > b) a = b; else b = a
     | IF LPAREN condition=expr RPAREN then=stmt (ELSE otherwise=stmt)?  # ifStmt
     | WHILE LPAREN expr RPAREN stmt                                     # whileStmt
     // for (i = 0; i < 10; i++) sum += i
     | FOR LPAREN init=expr? SEMICOLON cond=expr? SEMICOLON step=expr? RPAREN stmt   # forStmt
     // foreach (v = [k1+, k2] in a limit 10) print(k1)
     | FOREACH LPAREN loopKeys (ASSIGN loopKeys)? IN loopArray (LIMIT expr)? RPAREN stmt   # foreachStmt
     // try { a = user_string($p) } catch (message) { a = message }
     | TRY block CATCH (LPAREN ID RPAREN)? block                         # tryStmt
     // the ';' belongs to the statement: if (c) a; else b
     | simple SEMICOLON?                                                 # simpleStmt
     ;
simple : RETURN                 # returnNothing
       | RETURN_VALUE expr      # returnValue
       | DELETE expr            # deleteStmt
       | NEXT                   # nextStmt
       | BREAK                  # breakStmt
       | CONTINUE               # continueStmt
       | expr                   # exprStmt
       ;
// k        [k1, k2-]
loopKeys : loopKey | LBRACKET loopKey (COMMA loopKey)* RBRACKET ;
loopKey : ID sort? ;
sort : PLUS | MINUS ;
// a        a@count-        a[*, 3]
loopArray : arrayName index? ATWORD? sort? ;
// a        @hist_log(a)
arrayName : ID | ATWORD CALL_OPEN exprs RPAREN ;

// Precedence from high to low.
expr : op=(PRE_INC | PRE_DEC) postfix                                    # prefixCrement
     | postfix op=(INC | DEC)?                                           # operand
     // [a, b] in seen
     | LBRACKET indexKey (COMMA indexKey)* RBRACKET IN arrayName         # tupleIn
     | op=(SIGN_PLUS | SIGN_MINUS | NOT | TILDE) expr                    # unary
     | left=expr op=(STAR | SLASH | PERCENT) right=expr                  # binary
     | left=expr op=(PLUS | MINUS) right=expr                            # binary
     // concatenation
     | left=expr op=DOT right=expr                                       # binary
     | left=expr op=(SHL | SHR | USHR) right=expr                        # binary
     | left=expr op=(LT | GT | LE | GE | EQ | NE) right=expr             # binary
     // name =~ "^l.*"
     | expr op=(MATCH | NO_MATCH) string                                 # regex
     // a in seen
     | expr IN arrayName                                                 # singleIn
     | left=expr op=AMP right=expr                                       # binary
     | left=expr op=CARET right=expr                                     # binary
     | left=expr op=PIPE right=expr                                      # binary
     | left=expr op=AND right=expr                                       # binary
     | left=expr op=OR right=expr                                        # binary
     | <assoc=right> expr QUESTION expr COLON expr                       # ternary
     // sum <<< x
     | <assoc=right> left=expr op=(ASSIGN | STAT_ADD | ADD_ASSIGN | SUB_ASSIGN | MUL_ASSIGN | DIV_ASSIGN
         | MOD_ASSIGN | SHL_ASSIGN | SHR_ASSIGN | AND_ASSIGN | XOR_ASSIGN | OR_ASSIGN
         | CONCAT_ASSIGN) right=expr                                           # assign
     ;
// &$p->list[2]
postfix : ADDRESS_OF? primary deref* ;
deref : ARROW (ID | keyword) # member
      | index                # element
      | PRETTY               # pretty
      ;
index : INDEX_OPEN indexKey (COMMA indexKey)* RBRACKET ;
indexKey : STAR | expr ;
primary : LPAREN expr RPAREN            # parens
        | word=ATWORD (CALL_OPEN exprs? RPAREN)?  # atWord
        | name=ID (CALL_OPEN exprs? RPAREN)?  # nameOrCall
        | TARGET                        # target
        | value=NUMBER                  # number
        | FRACTION                      # fraction
        | string                        # text
        ;
exprs : expr (COMMA expr)* ;

// Keywords that are names all the same behind '->' and in probe points: process.end, func("f").return
keyword : PROBE | GLOBAL | PRIVATE | FUNCTION | IF | ELSE | FOR | FOREACH | IN | LIMIT | RETURN | DELETE
        | WHILE | BREAK | CONTINUE | NEXT | STRING_TYPE | LONG | TRY | CATCH ;

PROBE : 'probe' ;
GLOBAL : 'global' ;
PRIVATE : 'private' ;
FUNCTION : 'function' ;
IF : 'if' ;
ELSE : 'else' ;
FOR : 'for' ;
FOREACH : 'foreach' ;
IN : 'in' ;
LIMIT : 'limit' ;
RETURN : 'return' ;
DELETE : 'delete' ;
WHILE : 'while' ;
BREAK : 'break' ;
CONTINUE : 'continue' ;
NEXT : 'next' ;
STRING_TYPE : 'string' ;
LONG : 'long' ;
TRY : 'try' ;
CATCH : 'catch' ;

LBRACE : '{' ;
RBRACE : '}' ;
LPAREN : '(' ;
RPAREN : ')' ;
LBRACKET : '[' ;
RBRACKET : ']' ;
SEMICOLON : ';' ;
COMMA : ',' ;
COLON : ':' ;
QUESTION : '?' ;
DOT : '.' ;
ARROW : '->' ;
INC : '++' ;
DEC : '--' ;
NOT : '!' ;
TILDE : '~' ;
STAR : '*' ;
SLASH : '/' ;
PERCENT : '%' ;
PLUS : '+' ;
MINUS : '-' ;
SHL : '<<' ;
SHR : '>>' ;
USHR : '>>>' ;
LT : '<' ;
GT : '>' ;
LE : '<=' ;
GE : '>=' ;
EQ : '==' ;
NE : '!=' ;
MATCH : '=~' ;
NO_MATCH : '!~' ;
AMP : '&' ;
CARET : '^' ;
PIPE : '|' ;
AND : '&&' ;
OR : '||' ;
ASSIGN : '=' ;
STAT_ADD : '<<<' ;
ADD_ASSIGN : '+=' ;
SUB_ASSIGN : '-=' ;
MUL_ASSIGN : '*=' ;
DIV_ASSIGN : '/=' ;
MOD_ASSIGN : '%=' ;
SHL_ASSIGN : '<<=' ;
SHR_ASSIGN : '>>=' ;
AND_ASSIGN : '&=' ;
XOR_ASSIGN : '^=' ;
OR_ASSIGN : '|=' ;
CONCAT_ASSIGN : '.=' ;

// $1 pastes the first script argument as it is, @1 as a string; $# and @# their number
ARGUMENT : '$' [0-9]+ ;
ARGUMENT_STRING : '@' [0-9]+ ;
ARGUMENT_COUNT : '$#' ;
ARGUMENT_COUNT_STRING : '@#' ;
// $file        $$parms
TARGET : '$' '$'? [A-Za-z_] [A-Za-z0-9_$]* ;
PRETTY : '$' '$'? ;
ID : [A-Za-z_] [A-Za-z0-9_$]* ;
// @count
ATWORD : '@' [A-Za-z_] [A-Za-z0-9_$]* ;
// 1.5, 1e9, 2.5e-3
FRACTION : [0-9]+ ('.' [0-9]+ ([eE] [+-]? [0-9]+)? | [eE] [+-]? [0-9]+) ;
// 0x1f, and malformed ones such as 0var: the builder explains what is wrong
NUMBER : [0-9] [A-Za-z0-9_]* ;
STRING : '"' ('\\' . | ~["\\\n])* '"' ;
UNCLOSED_STRING : '"' ('\\' ~[\n] | ~["\\\n])* ;

EMBEDDED : '%{' .*? '%}' ;
UNCLOSED_EMBEDDED : '%{' ;
CONDITIONAL : '%(' | '%?' | '%:' | '%)' ;

WS : [ \t\r\n\f]+ -> skip ;
SHELL_COMMENT : '#' ~[\n]* -> channel(HIDDEN) ;
LINE_COMMENT : '//' ~[\n]* -> channel(HIDDEN) ;
COMMENT : '/*' .*? '*/' -> channel(HIDDEN) ;
UNCLOSED_COMMENT : '/*' ;
JUNK : . ;

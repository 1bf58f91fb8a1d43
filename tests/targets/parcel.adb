--  Ada's types: ranges, enumerations, arrays with bounds of all kinds, records with discriminants, access, fixed point.
with Ada.Text_IO; use Ada.Text_IO;

procedure Parcel is

   package Types is
      type Colour is (Red, Green, Blue);
      type Small is range -10 .. 100;
      subtype Digit is Integer range 0 .. 9;
      type Byte is mod 256;
      type Money is delta 0.01 digits 9;
      type Angle is delta 0.125 range -16.0 .. 16.0;
      type Bits is array (0 .. 7) of Boolean with Pack;
      type Counts is array (Colour) of Integer;
      type Vector is array (Positive range <>) of Integer;
      type Matrix is array (Integer range <>, Integer range <>) of Long_Float;
      type Vector_Ref is access all Vector;
      type Shape_Kind is (Point, Circle, Box, Line, Blob);
      type Shape (Kind : Shape_Kind := Point) is record
         Id : Integer;
         case Kind is
            when Point => null;
            when Circle => Radius : Float;
            when Box => Width, Height : Small;
            when Line | Blob => Length : Long_Float;
         end case;
      end record;
      type Text (Size : Natural) is record
         Before : Integer;
         Data : String (1 .. Size);
         After : Integer;
      end record;
      type Node;
      type Node_Ref is access Node;
      type Node is record
         Value : Small;
         Next : Node_Ref;
      end record;
      type Animal is tagged record
         Legs : Integer;
      end record;
      type Bird is new Animal with record
         Wings : Small;
      end record;
      type Flags is record
         On : Boolean;
         Level : Digit;
         Tint : Colour;
      end record with Pack;
      Total : Integer := 5;
      function Double_It (S : Shape) return Integer;
      procedure Look (N : Integer; C : Colour; S : Small; D : Digit; B : Byte; F : Float; L : Long_Float;
                      Ch : Character; Ok : Boolean; Price : Money; Turn : Angle; Name : String);
      procedure Arrays (C : Counts; V : Vector; M : Matrix; P : Vector_Ref; B : Bits; Word : String);
      procedure Records (S1, S2, S3, S4 : Shape; T : Text; Head : Node_Ref; Pet : Bird; G : Flags);
      function Sum (Low, High : Integer) return Integer;
      function Mean (V : Vector) return Vector;
      function "*" (Left : Shape; Right : Integer) return Integer;
   end Types;

   package body Types is
      function Double_It (S : Shape) return Integer is (S.Id * 2);

      procedure Look (N : Integer; C : Colour; S : Small; D : Digit; B : Byte; F : Float; L : Long_Float;
                      Ch : Character; Ok : Boolean; Price : Money; Turn : Angle; Name : String) is
         Here : Integer := N + Digit'Pos (D);
      begin
         Total := Total + Here;  --  LINE:look
         Put_Line (Name & Here'Image & C'Image & S'Image & B'Image & F'Image & L'Image & Ch & Ok'Image & Price'Image & Turn'Image);
      end Look;

      procedure Arrays (C : Counts; V : Vector; M : Matrix; P : Vector_Ref; B : Bits; Word : String) is
         Own : Vector (5 .. V'Length + 4) := V;
      begin
         Own (5) := Own (5) + C (Green);
         Put_Line (Word & Own (5)'Image & M (2, -1)'Image & P (P'First)'Image & B (0)'Image);  --  LINE:arrays
      end Arrays;

      procedure Records (S1, S2, S3, S4 : Shape; T : Text; Head : Node_Ref; Pet : Bird; G : Flags) is
         Copy : Text := T;
         Seen : Shape := S2;
      begin
         Copy.Before := 7;
         Seen.Id := Double_It (S1) + S3.Id + S4 * 2;
         Put_Line (Copy.Data & Seen.Id'Image & Head.Value'Image & Pet.Wings'Image & G.On'Image);  --  LINE:records
      end Records;

      function Sum (Low, High : Integer) return Integer is
         Result : Integer := 0;
         procedure Add (N : Integer) is
         begin
            Result := Result + N;
         end Add;
      begin
         for I in Low .. High loop
            Add (I);
         end loop;
         return Result;
      end Sum;

      function Mean (V : Vector) return Vector is
         R : Vector (V'Range);
      begin
         for I in V'Range loop
            R (I) := V (I) / V'Length;
         end loop;
         return R;
      end Mean;

      function "*" (Left : Shape; Right : Integer) return Integer is (Left.Id * Right);
   end Types;

   use Types;
   V : aliased Vector := (10, 20, 30);
   M : constant Matrix (1 .. 2, -1 .. 1) := ((1.0, 2.0, 3.0), (4.0, 5.0, 6.0));
   P : constant Vector_Ref := new Vector'(7, 8, 9, 10);
   Last : constant Node_Ref := new Node'(Value => 2, Next => null);
begin
   for I in 1 .. 2 loop
      Look (I, Green, -5, 4, 200, 1.5, -2.25, 'x', True, 12.34, -3.125, "name");
      Arrays ((1, 2, 3), V, M, P, (0 => True, 3 => True, others => False), "word");
      Records ((Point, 1), (Circle, 2, 0.5), (Box, 3, 4, 5), (Blob, 4, 2.5), (5, 1, "hello", 2),
               new Node'(Value => 1, Next => Last), (Legs => 2, Wings => 2), (True, 7, Blue));
   end loop;
   Put_Line (Sum (1, 4)'Image & Mean (V) (2)'Image);
end Parcel;
--  SPDX-License-Identifier: Apache-2.0

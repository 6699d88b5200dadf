"""A file in each language, with what it defines: `kind path line`, and `-` in front where it is for nobody else."""

SAMPLES: dict[str, tuple[str, str]] = {
    "python": (
        '''"""Module."""
import os
LIMIT: int = 3
a, b = 1, 2
c = d = 4
type Alias[T] = list[T]
@decorated
class User(Base):
    """A person.

    More.
    """
    name = "x"
    async def load(self, *, deep: bool = False) -> None:
        r\'\'\'Load it.\'\'\'
        local = 1
        def inner(): pass
    def _hidden(self): "Hidden."
if LIMIT:
    def late(): return 1
''',
        """variable LIMIT 3
variable a 4
variable b 4
variable c 5
variable d 5
type Alias 6
class User 8
field User.name 13
method User.load 14
-function User.load.inner 17
-method User._hidden 18
function late 20""",
    ),
    "javascript": (
        """import x from './x';
/** Adds. */
export function add(a, b) { const inner = 1; return a; }
export default class Cart {
  #secret = 1;
  total = 0;
  get sum() { return 1; }
  onClick = () => 2;
  static { let hidden = 1; }
}
const twice = (n) => n * 2;
function* walk() {}
const api = { load() {}, save: async () => 1, 'odd-name': function () {} };
const Named = class {};
const Inner = class Other {};
exports.run = function () {};
Cart.prototype.empty = function () {};
describe('x', () => { const local = 1; function kept() {} });
export { twice };
module.exports = { api, make() {} };
""",
        """function add 3
class Cart 4
-field Cart.#secret 5
field Cart.total 6
method Cart.sum 7
method Cart.onClick 8
function twice 11
-function walk 12
variable api 13
-method api.load 13
-method api.save 13
-method api.odd-name 13
-class Named 14
-variable Inner 15
-class Inner.Other 15
function run 16
-method Cart.empty 17
-function kept 18
method make 20""",
    ),
    "jsx": (
        "export const App = () => <div>text</div>;\nexport default function Page() { return <App/>; }\n",
        "function App 1\nfunction Page 2",
    ),
    "typescript": (
        """export interface Shape { area(): number; readonly name: string }
export type Id = string;
export enum Color { Red, Blue = 2 }
export abstract class Base<T> { private x = 1; abstract go(): void; constructor(readonly y: number) {} }
export namespace Deep { export function f(): void {} }
declare module 'lib' { function g(): void }
export function over(a: string): void;
export function over(a: unknown) {}
export const later = <T,>(x: T) => x;
declare const told: number;
""",
        """interface Shape 1
method Shape.area 1
field Shape.name 1
type Id 2
enum Color 3
constant Color.Red 3
constant Color.Blue 3
class Base 4
-field Base.x 4
method Base.go 4
method Base.constructor 4
module Deep 5
function Deep.f 5
-module lib 6
-function lib.g 6
function over 7
function over 8
function later 9
-variable told 10""",
    ),
    "tsx": (
        "export const Box = ({ x }: Props): JSX.Element => <b>{x}</b>;\ninterface Props { x: number }\n",
        "function Box 1\n-interface Props 2\n-field Props.x 2",
    ),
    "go": (
        """package main

// Store keeps things.
type Store[T any] struct {
	Name, alias string
}

type Reader interface { Read(p []byte) error }
type ID = int
type Count int

// Get finds one.
func (s *Store[T]) Get(id ID) { local := 1; var hidden int; const no = 1 }
func main() {}

const First, second = 1, 2
var Global int
""",
        """struct Store 4
field Store.Name 5
-field Store.alias 5
interface Reader 8
method Reader.Read 8
type ID 9
type Count 10
method Store.Get 13
-function main 14
constant First 16
-constant second 16
variable Global 17""",
    ),
    "rust": (
        """/// A point.
#[derive(Debug)]
pub struct Point<T> { pub x: T, y: T }
pub enum Side { Left, Right(i32) }
pub trait Draw { fn draw(&self); const SIZE: usize; type Out; }
impl<T> Draw for Point<T> { fn draw(&self) {} }
impl Point<f32> { pub fn new() -> Self { todo!() } }
mod inner { pub fn deep() {} }
const MAX: u8 = 1;
pub static NAME: &str = "";
type Short = Point<u8>;
macro_rules! many { () => {} }
union Raw { a: u8 }
""",
        """struct Point 3
field Point.x 3
-field Point.y 3
enum Side 4
constant Side.Left 4
constant Side.Right 4
trait Draw 5
method Draw.draw 5
constant Draw.SIZE 5
type Draw.Out 5
-method Point.draw 6
method Point.new 7
-module inner 8
-function inner.deep 8
-constant MAX 9
variable NAME 10
-type Short 11
-macro many 12
-struct Raw 13
-field Raw.a 13""",
    ),
    "java": (
        """package a;
/** A service. */
@Service
public class Users<T> extends Base {
  private int count = 1, other;
  public Users() {}
  @Override public T find(long id) { int local = 1; return null; }
  enum Mode { ON, OFF }
}
interface Finder { String KEY = "k"; void find(); }
record Pair(int a) { Pair {} }
@interface Mark { String value(); }
""",
        """class Users 4
-field Users.count 5
-field Users.other 5
constructor Users.Users 6
method Users.find 7
enum Users.Mode 8
constant Users.Mode.ON 8
constant Users.Mode.OFF 8
interface Finder 10
constant Finder.KEY 10
method Finder.find 10
class Pair 11
constructor Pair.Pair 11
interface Mark 12
method Mark.value 12""",
    ),
    "c": (
        """#define MAX 10
#define TWICE(x) ((x) * 2)
/* Adds two. */
static int add(int a, int b) { int local = 1; int proto(int); return a; }
char **names(void);
struct node { int value; struct node *next; int (*call)(int); char text[8]; };
typedef struct pair { int left; } pair;
typedef int (*handler)(int);
typedef struct node *link;
enum color { RED, BLUE = 2 };
union raw { int i; };
int count, *pointer = 0, table[3];
""",
        """macro MAX 1
macro TWICE 2
-function add 4
prototype names 5
struct node 6
field node.value 6
field node.next 6
field node.call 6
field node.text 6
type pair 7
struct pair 7
field pair.left 7
type handler 8
type link 9
enum color 10
constant color.RED 10
constant color.BLUE 10
struct raw 11
field raw.i 11
variable count 12
variable pointer 12
variable table 12""",
    ),
    "cpp": (
        """namespace a::b {
/// A shape.
class Shape : public Base {
 public:
  Shape();
  ~Shape() {}
  int area() const { auto f = [] { int local; }; return 1; }
  operator bool() const { return true; }
  int &ref() { return x; }
 private:
  int x;
};
}
int Shape::size(int n) { return n; }
template <typename T> struct Box { T item; };
enum class Mode { On };
using Name = int;
bool operator==(int a, int b) { return true; }
concept Small = true;
""",
        """module a.b 1
class a.b.Shape 3
prototype a.b.Shape.Shape 5
method a.b.Shape.~Shape 6
method a.b.Shape.area 7
method a.b.Shape.operator bool 8
method a.b.Shape.ref 9
field a.b.Shape.x 11
method Shape.size 14
struct Box 15
field Box.item 15
enum Mode 16
constant Mode.On 16
type Name 17
function operator== 18
type Small 19""",
    ),
    "csharp": (
        """namespace App {
  /// <summary>A cart.</summary>
  public class Cart<T> : Base {
    private int count;
    public int Total { get; set; }
    public event Action Changed;
    public Cart() {}
    public void Add(T item) { void Inner() {} }
    delegate void Done(int a);
  }
  public interface ICart { void Add(); }
  public enum Mode { On }
  public record Pair(int A);
  struct Raw {}
}
""",
        """module App 1
class App.Cart 3
-field App.Cart.count 4
field App.Cart.Total 5
field App.Cart.Changed 6
constructor App.Cart.Cart 7
method App.Cart.Add 8
-function App.Cart.Add.Inner 8
-type App.Cart.Done 9
interface App.ICart 11
method App.ICart.Add 11
enum App.Mode 12
constant App.Mode.On 12
class App.Pair 13
struct App.Raw 14""",
    ),
    "ruby": (
        """module Shop
  # A cart.
  class Cart < Base
    LIMIT = 3
    attr_accessor :total, :name
    def add(item); local = 1; end
    def self.make; end
    alias plus add
  end
end
class Shop::Other; end
def top; end
""",
        """module Shop 1
class Shop.Cart 3
constant Shop.Cart.LIMIT 4
field Shop.Cart.total 5
field Shop.Cart.name 5
method Shop.Cart.add 6
method Shop.Cart.make 7
method Shop.Cart.plus 8
class Shop.Other 11
function top 12""",
    ),
    "php": (
        """<?php
namespace App;
interface Finder { public function find(int $id); }
trait Logs { protected $log = 1; }
/** A cart. */
final class Cart { const MAX = 1; private int $count = 2; public function __construct(private int $x) {} }
enum Mode: string { case On = 'on'; }
function top($a) { $local = 1; }
define('VERSION', 1);
""",
        """interface Finder 3
method Finder.find 3
trait Logs 4
field Logs.log 4
class Cart 6
constant Cart.MAX 6
-field Cart.count 6
method Cart.__construct 6
-field Cart.__construct.x 6
enum Mode 7
constant Mode.On 7
function top 8
constant VERSION 9""",
    ),
    "kotlin": (
        """package a
/** A user. */
data class User(val name: String, age: Int) : Base() {
    private val count = 1
    fun load(id: Int): Int { val local = 1; return id }
    companion object {
        const val LIMIT = 3
    }
}
interface Finder { fun find() }
enum class Mode { ON, OFF }
object Registry {
    fun add() = list.map { val hidden = it }
}
fun String.shout(): String = this
typealias Id = Int
""",
        """class User 3
field User.name 3
-field User.count 4
method User.load 5
field User.LIMIT 7
interface Finder 10
method Finder.find 10
enum Mode 11
constant Mode.ON 11
constant Mode.OFF 11
object Registry 12
method Registry.add 13
function shout 15
type Id 16""",
    ),
    "swift": (
        """/// A user.
public class User: Base {
  let name: String = ""
  private var count = 1
  init(a: Int) { let local = 1 }
  func load() -> Int { return 1 }
}
struct Point { var x = 1 }
enum Mode { case on, off }
protocol Finder {
  func find()
  var size: Int { get }
}
extension User { func extra() {} }
func top() {}
typealias Id = Int
""",
        """class User 2
field User.name 3
-field User.count 4
constructor User.init 5
method User.load 6
struct Point 8
field Point.x 8
enum Mode 9
constant Mode.on 9
constant Mode.off 9
interface Finder 10
method Finder.find 11
field Finder.size 12
method User.extra 14
function top 15
type Id 16""",
    ),
    "scala": (
        """package a
/** A user. */
class User(val name: String) extends Base { def load(id: Int): Int = { val local = 1; id }; private val count = 1 }
object User { def apply() = 1 }
trait Finder { def find(): Unit; type Out }
enum Mode { case On, Off }
def top() = 1
given order: Int = 2
""",
        """class User 3
method User.load 3
-field User.count 3
object User 4
method User.apply 4
trait Finder 5
method Finder.find 5
type Finder.Out 5
enum Mode 6
constant Mode.On 6
constant Mode.Off 6
function top 7
variable order 8""",
    ),
    "bash": (
        "# Says hello.\nhello() { local name=1; }\nfunction bye { x=2; }\nHOME_DIR=/x\nexport PORT=1\n",
        "function hello 2\nfunction bye 3\nvariable HOME_DIR 4\nvariable PORT 5",
    ),
    "lua": (
        """local M = {}
--- Loads it.
function M.load(a) local inner = 1 end
function M:save() end
local function hidden() end
M.find = function() end
local short = function() local deep = 1 end
top = 1
local T = { run = function() end }
""",
        """-variable M 1
method M.load 3
method M.save 4
-function hidden 5
method M.find 6
-function short 7
variable top 8
-variable T 9
-method T.run 9""",
    ),
}

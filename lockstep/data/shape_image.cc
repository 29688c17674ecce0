#include "lockstep/data/shape_image.h"

#include <algorithm>
#include <array>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

using Colour = std::array<double, 3>;

struct Point {
  double u = 0, v = 0;
};

double absolute(double x) {
  return x < 0 ? -x : x;
}
double radius2(Point p) {
  return p.u * p.u + p.v * p.v;
}
double box(Point p) {
  return std::max(absolute(p.u), absolute(p.v));
}

// A five-pointed star is where at most one of its five lines is crossed.
bool in_star(Point p) {
  constexpr std::array<Point, 5> kNormals = {{{0, -1},
                                              {0.9510565, -0.3090170},
                                              {0.5877853, 0.8090170},
                                              {-0.5877853, 0.8090170},
                                              {-0.9510565, -0.3090170}}};
  int crossed = 0;
  for (const auto& n : kNormals) crossed += n.u * p.u + n.v * p.v > 0.33 ? 1 : 0;
  return crossed <= 1 && radius2(p) < 1.1;
}

// Each figure lies within the circle of radius 1.
struct Figure {
  const char* name;
  bool (*covers)(Point);
};
constexpr std::array<Figure, 10> kFigures = {{
    {"disc", [](Point p) { return radius2(p) < 0.72; }},
    {"ring", [](Point p) { return radius2(p) < 0.85 && radius2(p) > 0.3; }},
    {"square", [](Point p) { return box(p) < 0.74; }},
    {"frame", [](Point p) { return box(p) < 0.8 && box(p) > 0.45; }},
    {"triangle", [](Point p) { return p.v > -0.5 && p.v < 1 - 1.7320508 * absolute(p.u); }},
    {"star", in_star},
    {"cross",
     [](Point p) { return box(p) < 0.92 && std::min(absolute(p.u), absolute(p.v)) < 0.26; }},
    {"crescent",
     [](Point p) {
       return radius2(p) < 0.85 && radius2({p.u - 0.45, p.v}) > 0.5;
     }},
    {"stripes",
     [](Point p) { return box(p) < 0.8 && static_cast<int>((p.u + 0.8) * 3.125) % 2 == 0; }},
    {"checker",
     [](Point p) {
       return box(p) < 0.84 &&
              (static_cast<int>((p.u + 0.84) / 0.56) + static_cast<int>((p.v + 0.84) / 0.56)) % 2 ==
                  0;
     }},
}};

Colour any_colour(Random& random, double low = 0, double high = 255) {
  return {random.uniform(low, high), random.uniform(low, high), random.uniform(low, high)};
}
double distance(const Colour& a, const Colour& b) {
  return absolute(a[0] - b[0]) + absolute(a[1] - b[1]) + absolute(a[2] - b[2]);
}

class Canvas {
 public:
  explicit Canvas(std::span<std::uint8_t> image) : image_(image) {}

  // From one colour at a side of the image to another at the opposite one.
  void gradient(const Colour& from, const Colour& to, Point direction) {
    for (int y = 0; y < kShapeSide; ++y) {
      for (int x = 0; x < kShapeSide; ++x) {
        const double t = 0.5 + ((x - 15.5) * direction.u + (y - 15.5) * direction.v) / 44;
        for (std::size_t c = 0; c < 3; ++c) at(x, y)[c] = from[c] + t * (to[c] - from[c]);
      }
    }
  }

  // `turn` is cosine and sine. Each pixel is covered as far as its 2×2 parts are.
  void figure(bool (*covers)(Point), Point centre, double radius, Point turn,
              const Colour& colour) {
    const auto first = [&](double middle) {
      return std::max(0, static_cast<int>(middle - radius));
    };
    const auto last = [&](double middle) {
      return std::min(kShapeSide - 1, static_cast<int>(middle + radius) + 1);
    };
    const Point step{turn.u / radius, turn.v / radius};
    for (int y = first(centre.v); y <= last(centre.v); ++y) {
      for (int x = first(centre.u); x <= last(centre.u); ++x) {
        int covered = 0;
        for (int part = 0; part < 4; ++part) {
          const double dx = x + (part % 2) * 0.5 - 0.25 - centre.u;
          const double dy = y + (part / 2) * 0.5 - 0.25 - centre.v;
          covered += covers({step.u * dx + step.v * dy, step.u * dy - step.v * dx}) ? 1 : 0;
        }
        for (std::size_t c = 0; c < 3; ++c) {
          at(x, y)[c] += 0.25 * covered * (colour[c] - at(x, y)[c]);
        }
      }
    }
  }

  // The sum of two uniform bytes is near enough to a normal number and far cheaper.
  void finish(double noise, Random& random) {
    const double scale = noise * 255 / 104.51;  // the deviation of that sum
    std::uint64_t draw = 0;
    for (std::size_t i = 0; i < kShapeBytes; ++i) {
      if (i % 4 == 0) draw = random.next();
      const double sum = static_cast<double>((draw & 255) + (draw >> 8 & 255)) - 255;
      draw >>= 16;
      const double value = pixels_[i] + scale * sum;
      image_[i] = static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0) + 0.5);
    }
  }

 private:
  double* at(int x, int y) { return pixels_.data() + 3 * (y * kShapeSide + x); }

  std::array<double, kShapeBytes> pixels_{};
  std::span<std::uint8_t> image_;
};

// Cosine and sine of any angle, as a rational function of the tangent of half of it: libraries
// differ in the last bit of theirs.
Point any_turn(Random& random) {
  const double t = random.uniform(-0.41421356, 0.41421356);  // ±45 degrees
  Point turn{(1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)};
  for (auto quarters = random.below(4); quarters > 0; --quarters) turn = {-turn.v, turn.u};
  return turn;
}

}  // namespace

std::vector<std::string> shape_names() {
  std::vector<std::string> names;
  for (const auto& figure : kFigures) names.emplace_back(figure.name);
  return names;
}

void draw_shape(std::size_t figure, double noise, Random random, std::span<std::uint8_t> image) {
  LOCKSTEP_CHECK(figure < kFigures.size() && image.size() == kShapeBytes, "figure {}", figure);
  Canvas canvas(image);
  const Colour from = any_colour(random, 0, 180);
  Colour to = any_colour(random, 0, 180), middle;
  for (std::size_t c = 0; c < 3; ++c) {
    to[c] = from[c] + 0.5 * (to[c] - from[c]);  // a gentle gradient
    middle[c] = 0.5 * (from[c] + to[c]);
  }
  canvas.gradient(from, to, any_turn(random));
  for (auto specks = 2 + random.below(5); specks > 0; --specks) {
    const auto& speck = random.below(2) == 0 ? kFigures[0] : kFigures[2];
    const Point place{random.uniform(0, kShapeSide), random.uniform(0, kShapeSide)};
    canvas.figure(speck.covers, place, random.uniform(1, 3), any_turn(random), any_colour(random));
  }
  constexpr double kContrast = 160;  // of the largest 765
  Colour colour = any_colour(random, 75, 255);
  while (distance(colour, middle) < kContrast) colour = any_colour(random, 75, 255);
  const double radius = random.uniform(7, 13);
  const double margin = 0.85 * radius;  // an edge may be cut off
  const Point centre{random.uniform(margin, kShapeSide - 1 - margin),
                     random.uniform(margin, kShapeSide - 1 - margin)};
  canvas.figure(kFigures[figure].covers, centre, radius, any_turn(random), colour);
  canvas.finish(noise, random);
}

}  // namespace lockstep

#include "tools/bench_rows.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <sstream>

#include "manifest/status.h"
#include "tools/message.h"

namespace tilewright {
namespace {

constexpr double kRegressionFraction = 0.03;
constexpr double kRegressionUs = 0.2;
constexpr double kMaxEfficiency = 1.05;

using RowKey = std::pair<std::string, std::string>;
RowKey KeyOf(const BenchRow& row) { return {row.op, row.name}; }

std::string Number(double value) {
  std::ostringstream text;
  text << std::setprecision(6) << value;
  return text.str();
}

struct GeometricMean {
  double log_sum = 0;
  int count = 0;
  void Add(double value) {
    if (value <= 0) return;
    log_sum += std::log(value);
    ++count;
  }
  std::string ToString() const {
    return count == 0 ? "-" : Cat(Number(std::exp(log_sum / count)), " over ", count);
  }
};

}  // namespace

std::string BenchCsvHeader() {
  return "op,case,dtype,config,quality,method,inputs,median_us,p10_us,p90_us,sol_us,efficiency,"
         "peer,peer_us,ratio,bar_us,bar_ratio,device,driver,date,commit";
}

std::string BenchCsvLine(const BenchRow& row) {
  const double bar_ratio = row.bar_us > 0 ? row.bar_us / row.median_us : 0;
  return CsvLine({row.op,
                  row.name,
                  row.dtype,
                  row.config,
                  row.quality,
                  row.method,
                  row.inputs,
                  Number(row.median_us),
                  Number(row.p10_us),
                  Number(row.p90_us),
                  Number(row.sol_us),
                  Number(row.efficiency),
                  row.peer,
                  Number(row.peer_us),
                  Number(row.ratio),
                  Number(row.bar_us),
                  Number(bar_ratio),
                  row.device,
                  row.driver,
                  row.date,
                  row.commit});
}

absl::StatusOr<std::vector<BenchRow>> ReadBenchCsv(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const std::vector<CsvRow> lines, ReadCsv(path));
  std::vector<BenchRow> rows;
  for (const CsvRow& line : lines) {
    BenchRow row;
    for (const auto& [field, target] :
         {std::pair("op", &row.op), std::pair("case", &row.name), std::pair("dtype", &row.dtype)}) {
      const auto found = line.find(field);
      if (found == line.end()) return InvalidArgument(path, ": no column '", field, "'");
      *target = found->second;
    }
    for (const auto& [field, target] :
         {std::pair("median_us", &row.median_us), std::pair("p10_us", &row.p10_us),
          std::pair("p90_us", &row.p90_us)}) {
      const absl::StatusOr<double> value = CsvNumber(line, field);
      if (!value.ok()) {
        return InvalidArgument(path, ": ", row.op, " ", row.name, ": ", MessageOf(value.status()));
      }
      *target = *value;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void OfferPeer(BenchRow& row, const std::string& peer, double peer_us) {
  if (peer_us <= 0 || (row.peer_us > 0 && row.peer_us <= peer_us)) return;
  row.peer = peer;
  row.peer_us = peer_us;
  row.ratio = row.median_us > 0 ? peer_us / row.median_us : 0;
}

absl::Status AddCatalogBars(const std::string& path, std::span<BenchRow> rows) {
  TW_ASSIGN_OR_RETURN(const std::vector<CsvRow> lines, ReadCsv(path));
  std::map<RowKey, double> bars;
  for (const CsvRow& line : lines) {
    if (line.count("op") == 0 || line.count("case") == 0) {
      return InvalidArgument(path, ": expected the columns op, case and bar_us");
    }
    TW_ASSIGN_OR_RETURN(bars[RowKey(line.at("op"), line.at("case"))], CsvNumber(line, "bar_us"));
  }
  for (BenchRow& row : rows) {
    if (const auto found = bars.find(KeyOf(row)); found != bars.end()) row.bar_us = found->second;
  }
  return absl::OkStatus();
}

std::vector<std::string> Regressions(std::span<const BenchRow> before,
                                     std::span<const BenchRow> now) {
  std::map<RowKey, const BenchRow*> by_key;
  for (const BenchRow& row : now) by_key[KeyOf(row)] = &row;
  std::vector<std::string> found;
  for (const BenchRow& old : before) {
    const auto at = by_key.find(KeyOf(old));
    if (at == by_key.end()) {
      found.push_back(Cat(old.op, " ", old.name, ": was measured before, is not now"));
      continue;
    }
    const BenchRow& row = *at->second;
    const double limit =
        old.median_us + std::max(kRegressionUs, kRegressionFraction * old.median_us);
    if (row.p10_us > old.p90_us && row.median_us > limit) {
      found.push_back(Cat(old.op, " ", old.name, ": ", Number(old.median_us), " us before, ",
                          Number(row.median_us), " us now"));
    }
  }
  return found;
}

std::vector<std::string> ModelFailures(std::span<const BenchRow> rows) {
  std::vector<std::string> found;
  for (const BenchRow& row : rows) {
    if (row.sol_us > 0 && !(row.efficiency > 0 && row.efficiency <= kMaxEfficiency)) {
      found.push_back(Cat(row.op, " ", row.name, ": an efficiency of ", Number(row.efficiency),
                          " cannot be (", Number(row.median_us), " us, speed of light ",
                          Number(row.sol_us), " us)"));
    }
  }
  return found;
}

std::vector<std::string> Summary(std::span<const BenchRow> rows) {
  std::map<std::string, std::pair<GeometricMean, GeometricMean>> by_op;  // bar, peer
  for (const BenchRow& row : rows) {
    auto& [bar, peer] = by_op[row.op];
    bar.Add(row.median_us > 0 ? row.bar_us / row.median_us : 0);
    peer.Add(row.ratio);
  }
  std::vector<std::string> lines;
  for (const auto& [op, means] : by_op) {
    lines.push_back(Cat(op, ": geometric mean of catalog / ours ", means.first.ToString(),
                        ", of best peer / ours ", means.second.ToString()));
  }
  return lines;
}

}  // namespace tilewright

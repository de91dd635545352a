"""Train on the handwritten digits that come with scikit-learn, and print the report and its proof."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from novikoff import Perceptron

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X.astype(np.uint8), y, random_state=0)
model = Perceptron(random_state=0).fit(X_train, y_train)
report = model.report()
print(report)
print(f"  test       {100 * model.score(X_test, y_test):.2f} % correct on {len(y_test)} other digits")
print(report.proof)
